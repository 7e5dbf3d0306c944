import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import { randomCode, sameSecret } from '../platform/secrets.ts'
import { forgiveFailures } from './failure-store.ts'
import type { registerForm } from './forms.ts'
import { getOpenInvite, setInviteUsed } from './invite-store.ts'
import { hashPassword } from './passwords.ts'
import { getUserByEmail, hasUsers, insertUser } from './store.ts'
import type { Store } from './store.ts'
import { countTry } from './throttle.ts'
import { isLoopback } from '../platform/hosts.ts'

export type AdmissionDeps = { config: Config; setupCode: string | null; db: Store }

type Applicant = {
  email: string
  setupCode?: string | null | undefined
  invite?: string | null | undefined
}

type Admission = { role: 'admin' | 'member'; inviteId: string | null }

/** Makes an account: the first as admin, later ones as far as DAVIT_REGISTRATION lets them in. */
export async function register(
  deps: AdmissionDeps & { db: Db },
  application: z.infer<typeof registerForm> & { address: string },
) {
  const { db } = deps
  const { email, password, name = null } = application
  const isGuess = wantsSetupCode(deps)
  if (isGuess) countTry(db, application)
  admit(deps, application) // who is refused costs no hash; what counts is asked again below
  if (isGuess) forgiveFailures(db, email)

  const passwordHash = await hashPassword(password)
  return db.transaction(
    (tx) => {
      const { role, inviteId } = admit({ ...deps, db: tx }, application)
      if (inviteId) setInviteUsed(tx, inviteId)
      return insertUser(tx, { email, name, passwordHash, role })
    },
    { behavior: 'immediate' }, // of two first accounts the second sees the first
  )
}

/** As what the applicant comes in. Throws with the reason when not at all. */
export function admit(deps: AdmissionDeps, { email, ...shown }: Applicant): Admission {
  const { db, setupCode } = deps
  if (!hasUsers(db)) {
    if (setupCode !== null && !isSetupCode(shown.setupCode ?? '', setupCode)) throw wrongSetupCode()
    return { role: 'admin', inviteId: null }
  }
  const closed = whyClosed(deps, shown.invite)
  if (closed) throw new AppError('forbidden', closed)
  if (getUserByEmail(db, email)) throw duplicateEmail()
  return { role: 'member', inviteId: getOpenInvite(db, shown.invite)?.id ?? null }
}

/** Whether registering is worth guessing at: the first account, behind the code that Davit printed. */
export const wantsSetupCode = ({ db, setupCode }: AdmissionDeps) =>
  setupCode !== null && !hasUsers(db)

/** Why nobody, or nobody without an invitation, may register; null when this visitor may. */
export function whyClosed({ db, config }: AdmissionDeps, invite: string | null | undefined) {
  if (!hasUsers(db) || config.registration === 'open') return null
  const reason = 'Who has an account here reaches the Docker Engine of this server'
  if (config.registration === 'closed')
    return `Registration is closed. ${reason}, so its operator decides who may register.`
  if (getOpenInvite(db, invite)) return null
  return invite
    ? 'This invitation was used, has expired or was taken back. Ask an admin for another.'
    : `Registration is by invitation. ${reason}, so an admin has to invite you.`
}

const wrongSetupCode = () =>
  new AppError('forbidden', 'The setup code is not the one that Davit printed when it started.', {
    fields: [{ field: 'setupCode', message: 'is not the one that Davit printed when it started.' }],
  })

const duplicateEmail = () =>
  conflictField('email', 'This e-mail address has an account already. Log in instead.')

/** The code that registering the first account needs; null where only this machine itself can reach Davit. */
export const setupCodeFor = ({ host, url }: Pick<Config, 'host' | 'url'>) =>
  isLoopback(host) && (url === null || isLoopback(url.hostname)) ? null : randomCode()

/** Whether it is the code, however the groups of letters were typed. */
export const isSetupCode = (typed: string, code: string) =>
  sameSecret(lettersOf(typed), lettersOf(code))

const lettersOf = (text: string) => text.toUpperCase().replace(/[^A-Z2-7]/g, '')
