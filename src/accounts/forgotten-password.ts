import type { Db, Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { insertAccountMail } from '../notifications/outbox-store.ts'
import { AppError } from '../platform/errors.ts'
import { hashToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { linkToken } from './link-token.ts'
import { hashPassword } from './passwords.ts'
import { storePassword } from './reset-password.ts'
import { deleteExpiredResets, getResetByToken, insertReset } from './reset-store.ts'
import { getUserByEmail } from './store.ts'
import { countTry } from './throttle.ts'

/** In milliseconds. */
const lifetime = 3_600_000

/**
 * Mails a link to the account's address. What a visitor sees is the same when there is none: so few requests are
 * allowed that their time tells nothing.
 */
export function mailReset(
  { db, secrets }: { db: Db; secrets: Secrets },
  { email, address }: { email: string; address: string },
) {
  countTry(db, { email: `reset of ${email}`, address, isLogin: false })
  const user = getUserByEmail(db, email)
  if (!user || user.disabledAt) return
  const id = newId()
  const tokenHash = hashToken(linkToken(secrets, id))
  db.transaction((tx) => {
    deleteExpiredResets(tx)
    insertReset(tx, { id, userId: user.id, tokenHash, expiresAt: new Date(Date.now() + lifetime) })
    insertAccountMail(tx, { ownerId: user.id, subjectId: id })
  })
}

/** Throws unless the link of a mail is valid; it works once. */
export async function resetByMail(
  db: Db,
  { token, password, address }: { token: string; password: string; address: string },
) {
  findReset(db, token) // one that isn't must not cost a hash
  const passwordHash = await hashPassword(password)
  db.transaction(
    (tx) => {
      const { user } = findReset(tx, token)
      storePassword(tx, { user, passwordHash, actor: user, address })
    },
    { behavior: 'immediate' },
  )
}

function findReset(db: Tx, token: string) {
  const found = getResetByToken(db, token)
  if (found) return found
  throw new AppError('forbidden', whyInvalid)
}

export const whyInvalid = 'This link was used, has expired or isn’t complete.'
