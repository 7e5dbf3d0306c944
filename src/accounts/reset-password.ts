import { recordEvent } from '../audit/record.ts'
import type { Occurrence } from '../audit/record.ts'
import type { Db, Tx } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { passwordForm } from './forms.ts'
import { deleteIdentitiesOf } from './identity-store.ts'
import { hashPassword } from './passwords.ts'
import { deleteTokensOf } from './token-store.ts'
import { deleteSessionsOf, getUserByEmail, listUsers, updateUser } from './store.ts'
import { forgiveFailures } from './failure-store.ts'
import { deleteResetsOf } from './reset-store.ts'

type ResetUser = { id: string; email: string }

const mostNamed = 10

/** Finds the account by e-mail; the error lists the existing ones. */
export function userForReset(db: Db, email: string) {
  const user = getUserByEmail(db, email.trim().toLowerCase())
  if (user) return user
  const found = listUsers(db, { limit: mostNamed }).map(({ user }) => user.email)
  const named = found.slice(0, mostNamed).join(', ')
  const there = found.length > mostNamed ? `${named} and more` : named
  throw new AppError(
    'not_found',
    `There is no user ${email}. ${found.length > 0 ? `Users: ${there}.` : 'There are no users yet: the first one registers in the browser.'}`,
  )
}

/**
 * For the server's operator: sets a password, clears failed logins, and removes all other credentials of that
 * user, such as sessions, API tokens and linked logins.
 */
export async function resetPassword(
  db: Db,
  { user, password, by }: { user: ResetUser; password: string; by: string },
) {
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)
  asWriter(db, (tx) => {
    deleteTokensOf(tx, user.id)
    deleteIdentitiesOf(tx, user.id)
    storePassword(tx, { user, passwordHash, actor: { id: null, email: by } })
  })
}

type Stored = Pick<Occurrence, 'actor' | 'address'> & { user: ResetUser; passwordHash: string }

/** Ends the sessions, since someone else may have begun them. */
export function storePassword(tx: Tx, { user, passwordHash, ...by }: Stored) {
  deleteSessionsOf(tx, user.id)
  deleteResetsOf(tx, user.id)
  forgiveFailures(tx, { email: user.email })
  updateUser(tx, user.id, { passwordHash })
  recordEvent(tx, {
    ...by,
    action: 'password.reset',
    object: { kind: 'user', id: user.id, name: user.email },
  })
}

function checkNewPassword(password: string) {
  const result = passwordForm.shape.password.safeParse(password)
  if (!result.success)
    throw new AppError('invalid', `The password ${result.error.issues[0]!.message}`)
}
