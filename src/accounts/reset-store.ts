import { and, eq, gt, isNull, lte } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { passwordResets, users } from '../db/schema.ts'
import { hashToken } from '../platform/secrets.ts'

export const insertReset = (db: Tx, values: typeof passwordResets.$inferInsert) =>
  db.insert(passwordResets).values(values).run()

/** Undefined once it was used or has expired, and for a disabled user. */
const getOpen = (db: Tx, which: SQL) =>
  db
    .select({ reset: passwordResets, user: users })
    .from(passwordResets)
    .innerJoin(users, eq(users.id, passwordResets.userId))
    .where(and(which, gt(passwordResets.expiresAt, new Date()), isNull(users.disabledAt)))
    .get()

export const getResetById = (db: Tx, id: string) => getOpen(db, eq(passwordResets.id, id))

export const getResetByToken = (db: Tx, token: string) =>
  getOpen(db, eq(passwordResets.tokenHash, hashToken(token)))

/** Once the password or address has changed, or the user logs in another way. */
export const deleteResetsOf = (db: Tx, userId: string) =>
  db.delete(passwordResets).where(eq(passwordResets.userId, userId)).run()

export const deleteExpiredResets = (db: Tx) =>
  db.delete(passwordResets).where(lte(passwordResets.expiresAt, new Date())).run()
