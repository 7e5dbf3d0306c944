import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db, Tx } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError, conflictField } from '../platform/errors.ts'
import type { registerForm } from './forms.ts'
import { getOpenInvite, setInviteUsed } from './invite-store.ts'
import { hashPassword } from './passwords.ts'
import { isSetupCode } from './setup-code.ts'
import { findUser, getUserByEmail, hasUsers, insertUser } from './store.ts'
import { countTry } from './throttle.ts'

export type AdmissionDeps = { config: Config; setupCode: string | null; db: Tx }

type Applicant = Pick<z.infer<typeof registerForm>, 'email' | 'setupCode' | 'invite'>

type Admission = { role: 'admin' | 'member'; invite: { id: string; createdBy: string } | null }

/**
 * Returns the user, and who invited them, if anyone. The first account is an admin's; later ones need
 * DAVIT_REGISTRATION to allow it.
 */
export async function register(
  deps: AdmissionDeps & { db: Db },
  application: z.infer<typeof registerForm> & { address: string },
) {
  const { db } = deps
  const { email, password, name = null } = application
  const isGuess = wantsSetupCode(deps)
  const tried = isGuess ? countTry(db, application) : null
  admit(deps, application) // a refused visitor must not cost a hash; the decisive check is below
  tried?.forgive()

  const passwordHash = await hashPassword(password)
  // with two first accounts at once, the second sees the first
  return asWriter(db, (tx) => {
    const { role, invite } = admit({ ...deps, db: tx }, application)
    if (invite) setInviteUsed(tx, invite.id)
    const user = insertUser(tx, { email, name, passwordHash, role })
    return { user, inviter: invite && findUser(tx, invite.createdBy) }
  })
}

export function admit(deps: AdmissionDeps, { email, ...shown }: Applicant): Admission {
  const { db, setupCode } = deps
  if (!hasUsers(db)) {
    if (setupCode !== null && !isSetupCode(shown.setupCode ?? '', setupCode)) throw wrongSetupCode()
    return { role: 'admin', invite: null }
  }
  const closed = whyClosed(deps, shown.invite)
  if (closed) throw new AppError('forbidden', closed)
  if (getUserByEmail(db, email))
    throw conflictField('email', 'This e-mail address already has an account. Log in instead.')
  return { role: 'member', invite: getOpenInvite(db, shown.invite) ?? null }
}

/** True for the first account, if a setup code was printed. */
export const wantsSetupCode = ({ db, setupCode }: AdmissionDeps) =>
  setupCode !== null && !hasUsers(db)

export function whyClosed({ db, config }: AdmissionDeps, invite: string | null | undefined) {
  if (!hasUsers(db) || config.registration === 'open') return null
  const reason = 'Anyone with an account here can use Docker on this server'
  if (config.registration === 'closed')
    return `Registration is closed. ${reason}, so ask an admin for an account.`
  if (getOpenInvite(db, invite)) return null
  return invite
    ? 'This invitation was used, has expired or was revoked. Ask an admin for another one.'
    : `Registration is by invitation. ${reason}, so an admin has to invite you.`
}

const wrongSetupCode = () =>
  new AppError('forbidden', 'The setup code isn’t the one that Davit printed when it started.', {
    fields: [{ field: 'setupCode', message: 'isn’t the one that Davit printed when it started.' }],
  })
