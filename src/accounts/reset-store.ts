import { and, eq, gt, isNull, lte } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { passwordResets, users } from '../db/schema.ts'
import { hashToken } from '../platform/secrets.ts'

export const insertReset = (db: Tx, values: typeof passwordResets.$inferInsert) =>
  db.insert(passwordResets).values(values).run()

/** Undefined once it was used, and for a disabled user. */
const getUnused = (db: Tx, which: SQL | undefined) =>
  db
    .select({ reset: passwordResets, user: users })
    .from(passwordResets)
    .innerJoin(users, eq(users.id, passwordResets.userId))
    .where(and(which, isNull(users.disabledAt)))
    .get()

/** Also one that has expired. */
export const getResetById = (db: Tx, id: string) => getUnused(db, eq(passwordResets.id, id))

export const getResetByToken = (db: Tx, token: string) =>
  getUnused(
    db,
    and(eq(passwordResets.tokenHash, hashToken(token)), gt(passwordResets.expiresAt, new Date())),
  )

/** Once the password or address has changed, or the user logs in another way. */
export const deleteResetsOf = (db: Tx, userId: string) =>
  db.delete(passwordResets).where(eq(passwordResets.userId, userId)).run()

/** Milliseconds for which expired ones are kept: while their mail waits, it is to be told that it wasn’t sent. */
const kept = 24 * 3_600_000

export const deleteExpiredResets = (db: Tx) =>
  db
    .delete(passwordResets)
    .where(lte(passwordResets.expiresAt, new Date(Date.now() - kept)))
    .run()
