import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { isPassword } from './passwords.ts'
import { countTry, forgiveFailures } from './throttle.ts'
import { findUser } from './user-store.ts'

/**
 * Makes sure that it is still the user who sits there, and answers with them: throws unless this is
 * their password. Who has none, and logs in with a provider, is asked for none. Guesses count, but apart from those at the
 * login, or a stranger who fails there could keep the owner from changing the password.
 */
export async function confirmPassword(
  db: Db,
  { userId, password, address }: { userId: string; password: string | null; address: string },
) {
  const user = findUser(db, userId)
  if (user.passwordHash === null) return user
  if (!password) throw wrong('wants your current password.')
  const email = `password of ${user.id}`
  countTry(db, { email, address })
  if (!(await isPassword(password, user.passwordHash))) throw wrong('is wrong.')
  forgiveFailures(db, email)
  return user
}

const wrong = (message: string) =>
  new AppError('invalid', `The current password ${message}`, {
    fields: [{ field: 'currentPassword', message }],
  })
