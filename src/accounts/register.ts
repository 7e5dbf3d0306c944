import type { z } from 'zod'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { admit, wantsSetupCode } from './admission.ts'
import type { registerForm } from './forms.ts'
import { hashPassword } from './passwords.ts'
import { setInviteUsed } from './invite-store.ts'
import { insertUser } from './store.ts'
import { forgiveFailures } from './failure-store.ts'
import { countTry } from './throttle.ts'

type Application = z.infer<typeof registerForm> & { address: string }

/** Makes an account: the first as admin, later ones as far as DAVIT_REGISTRATION lets them in. */
export async function register(
  deps: { db: Db; config: Config; setupCode: string | null },
  application: Application,
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
