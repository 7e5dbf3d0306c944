import { recordEvent } from '../audit/record.ts'
import type { Db, Tx } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { isAddress } from '../web/fields.ts'
import { findUser, getUser, getUserByEmail } from './store.ts'
import type { UserRow } from './store.ts'
import { tryPassword } from './throttle.ts'

/** Returns the user as they are afterwards, maybe disabled. An unknown e-mail and a wrong password get the same response in the same time. */
export async function logIn(
  { db }: { db: Db },
  {
    email,
    password,
    address,
    browserOf,
  }: {
    email: string
    password: string
    address: string
    /** The id of the browser if that user logged in with it before, else null. */
    browserOf: (user: UserRow) => string | null
  },
) {
  const user = getUserByEmail(db, email)
  const hash = user?.passwordHash ?? null
  const browser = user ? browserOf(user) : null
  const fits = await tryPassword(db, { email, address, browser, password, hash })
  const current = user && getUser(db, user.id)
  if (current && fits && current.passwordHash === hash) return current
  // a text that isn't an address may be a password in the wrong field
  const actor = { id: user?.id ?? null, email: isAddress(email) ? email : 'someone' }
  recordEvent(db, { actor, action: 'login.failed', address })
  throw new AppError('unauthorized', 'Wrong e-mail address or password.')
}

/**
 * Confirms the user's identity, and returns them; throws unless this is their password. Users without one,
 * who log in with a provider, need none. Failures are throttled separately from logins, so that a stranger
 * who fails there can't lock the owner out of changing the password.
 */
export async function confirmPassword(
  db: Db,
  {
    userId,
    currentPassword: password,
    address,
  }: { userId: string; currentPassword?: string | null | undefined; address: string },
) {
  const user = findUser(db, userId)
  const { passwordHash: hash } = user
  if (hash === null) return user
  if (!password) throw wrong('is missing.')
  // This requires a session, so all networks together get as few attempts as a single one.
  const counted = { email: `password of ${userId}`, address, isLogin: false }
  if (!(await tryPassword(db, { ...counted, password, hash }))) throw wrong('is wrong.')
  return findUnchanged(db, user)
}

/**
 * Returns the user as they are now. Throws unless the password that was compared is still theirs, and they are
 * enabled: both may have changed while it was compared, or a new one hashed.
 */
export function findUnchanged(db: Tx, { id, passwordHash }: UserRow) {
  const user = findUser(db, id)
  if (user.passwordHash !== passwordHash || user.disabledAt) throw wrong('is wrong.')
  return user
}

const wrong = (message: string) =>
  new AppError('invalid', `The current password ${message}`, {
    fields: [{ field: 'currentPassword', message }],
  })
