import { recordEvent } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { isAddress } from './forms.ts'
import { isPassword } from './passwords.ts'
import { getUserByEmail } from './store.ts'
import { countTry, forgiveFailures } from './throttle.ts'

/** The user of these credentials. An unknown e-mail and a wrong password get one answer, in equal time. */
export async function logIn(
  { db }: { db: Db },
  { email, password, address }: { email: string; password: string; address: string },
) {
  countTry(db, { email, address })
  const user = getUserByEmail(db, email)
  const fits = await isPassword(password, user?.passwordHash ?? null)
  if (!user || !fits) {
    // what is no address may be a password in the wrong field
    const actor = { id: user?.id ?? null, email: isAddress(email) ? email : 'someone' }
    recordEvent(db, { actor, action: 'login.failed', address })
    throw new AppError('unauthorized', 'The e-mail or the password is wrong.')
  }
  forgiveFailures(db, email)
  return user
}
