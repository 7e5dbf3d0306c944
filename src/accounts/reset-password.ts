import { recordEvent } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { passwordForm } from './forms.ts'
import { deleteIdentitiesOf } from './identity-store.ts'
import { hashPassword } from './passwords.ts'
import { deleteTokensOf } from './token-store.ts'
import { deleteSessionsOf, getUserByEmail, listUsers, updateUser } from './store.ts'
import { forgiveFailures } from './failure-store.ts'

/** Users that a refusal names, before it only counts. */
const mostNamed = 10

/** The account of that address; a refusal says which ones there are. */
export function userForReset(db: Db, email: string) {
  const user = getUserByEmail(db, email.trim().toLowerCase())
  if (user) return user
  const found = listUsers(db, { limit: mostNamed }).map(({ user }) => user.email)
  const named = found.slice(0, mostNamed).join(', ')
  const there = found.length > mostNamed ? `${named} and more` : named
  throw new AppError(
    'not_found',
    `There is no user ${email}. ${found.length > 0 ? `There are: ${there}.` : 'There is none at all yet: the first one registers on the page.'}`,
  )
}

/**
 * For the operator of the server: sets a password, forgives failed logins, and ends whatever else lets
 * someone in as that user: sessions, API tokens, linked logins.
 */
export async function resetPassword(
  db: Db,
  { user, password, by }: { user: { id: string; email: string }; password: string; by: string },
) {
  checkNewPassword(password)
  const passwordHash = await hashPassword(password)
  db.transaction(
    (tx) => {
      deleteSessionsOf(tx, user.id)
      deleteTokensOf(tx, user.id)
      deleteIdentitiesOf(tx, user.id)
      forgiveFailures(tx, user.email)
      updateUser(tx, user.id, { passwordHash })
      recordEvent(tx, {
        actor: { id: null, email: by },
        action: 'password.reset',
        object: { kind: 'user', id: user.id, name: user.email },
      })
    },
    { behavior: 'immediate' },
  )
}

/** Refuses a password that nobody may have. */
function checkNewPassword(password: string) {
  const result = passwordForm.shape.password.safeParse(password)
  if (!result.success)
    throw new AppError('invalid', `The password ${result.error.issues[0]!.message}`)
}
