import { and, eq, gt, isNull, lte } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { countRows, getRow } from '../db/queries.ts'
import { deviceLogins } from '../db/schema.ts'
import { AppError, notFound } from '../platform/errors.ts'
import { hashToken, randomCode, randomToken } from '../platform/secrets.ts'
import { networkOf } from '../web/client-address.ts'
import { findUser } from './store.ts'
import { noteToken } from './notices.ts'
import { makeToken } from './token-store.ts'

/** In milliseconds: the time in which a login can be allowed. */
export const deviceLoginTime = 10 * 60_000

export const deviceTokenDays = 365

/** Logins that wait at once: of one network, and of all. */
const maxOpen = { network: 10, all: 1000 }

export type DeviceLogin = typeof deviceLogins.$inferSelect

/** Only here are the secret and the code returned. */
export const startDeviceLogin = (
  db: Db,
  { name, address }: { name: string; address: string },
): { secret: string; code: string } =>
  db.transaction((tx) => {
    const network = networkOf(address)
    tx.delete(deviceLogins).where(lte(deviceLogins.expiresAt, new Date())).run()
    const count = (where?: SQL) => countRows(tx, deviceLogins, where)
    if (count(eq(deviceLogins.network, network)) >= maxOpen.network || count() >= maxOpen.all)
      throw new AppError('too_many', 'Too many logins wait to be allowed. Try again later.', {
        retryAfter: 60,
      })
    const [secret, code] = [randomToken(), randomCode()]
    const expiresAt = new Date(Date.now() + deviceLoginTime)
    const hashes = { secretHash: hashToken(secret), codeHash: hashToken(code) }
    tx.insert(deviceLogins)
      .values({ ...hashes, name, network, expiresAt })
      .run()
    return { secret, code }
  })

const isOpen = () => gt(deviceLogins.expiresAt, new Date())

const isWaiting = (which: SQL) => and(which, isNull(deviceLogins.userId), isOpen())

export const getWaiting = (db: Db, code: string) =>
  getRow(db, deviceLogins, isWaiting(eq(deviceLogins.codeHash, hashToken(code))))

/** False once it is over, or someone else has allowed it. */
export const allowDeviceLogin = (db: Db, { id, userId }: { id: string; userId: string }) =>
  db
    .update(deviceLogins)
    .set({ userId })
    .where(isWaiting(eq(deviceLogins.id, id)))
    .returning({ id: deviceLogins.id })
    .get() !== undefined

export const refuseDeviceLogin = (db: Db, id: string) =>
  db
    .delete(deviceLogins)
    .where(isWaiting(eq(deviceLogins.id, id)))
    .run()

/** Creates the token once the login is allowed, which then ends; null while it waits. */
export const takeDeviceToken = (db: Db, secret: string) =>
  db.transaction((tx) => {
    const byHash = eq(deviceLogins.secretHash, hashToken(secret))
    const found = getRow(tx, deviceLogins, and(byHash, isOpen()))
    if (!found) throw notFound('login')
    if (found.userId === null) return null
    const { id: userId, email, disabledAt } = findUser(tx, found.userId)
    if (disabledAt) throw new AppError('forbidden', 'This account is disabled.')
    const { name } = found
    const { token, row } = makeToken(tx, {
      ...{ userId, name, scopes: ['write'], expiresInDays: deviceTokenDays },
    })
    noteToken(tx, { ...row, email })
    tx.delete(deviceLogins).where(byHash).run()
    return { token, email }
  })
