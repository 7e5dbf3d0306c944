import { and, eq, gt, isNull, lte, or } from 'drizzle-orm'
import type { InferInsertModel } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { countRows, getRow, listRows } from '../db/queries.ts'
import { joinCodes, users } from '../db/schema.ts'
import { refuseMore } from '../platform/limits.ts'

export type JoinCode = typeof joinCodes.$inferSelect

/** In milliseconds: the time in which a server can join by a code. */
export const codeTime = 15 * 60_000

/** In milliseconds: the time in which a code is known to have been used, or to be over. */
const keptFor = 24 * 3_600_000

const isOpen = () => and(isNull(joinCodes.usedAt), gt(joinCodes.expiresAt, new Date()))

/** Replaces an open one for a server of that name. */
export const insertCode = (db: Db, row: InferInsertModel<typeof joinCodes>) =>
  db.transaction((tx) => {
    const isOld = lte(joinCodes.createdAt, new Date(Date.now() - keptFor))
    const isReplaced = and(eq(joinCodes.name, row.name), isOpen())
    tx.delete(joinCodes).where(or(isOld, isReplaced)).run()
    refuseMore('joinCodes', countRows(tx, joinCodes, isOpen()))
    return tx.insert(joinCodes).values(row).returning().get()
  })

export const listOpenCodes = (db: Tx) => listRows(db, joinCodes, isOpen())

/** Undefined when there is none, or a server joins or has joined by it. */
export const withdrawCode = (db: Tx, id: string) =>
  db
    .delete(joinCodes)
    .where(and(eq(joinCodes.id, id), isOpen()))
    .returning({ name: joinCodes.name })
    .get()

export const findCode = (db: Tx, codeHash: string) =>
  getRow(db, joinCodes, eq(joinCodes.codeHash, codeHash))

/** False when it was used. */
export const claimCode = (db: Tx, id: string) =>
  db
    .update(joinCodes)
    .set({ usedAt: new Date() })
    .where(and(eq(joinCodes.id, id), isNull(joinCodes.usedAt)))
    .returning({ id: joinCodes.id })
    .get() !== undefined

/** The admin who made it, as the one who did what follows. */
export const creatorOf = (db: Tx, { createdBy }: JoinCode) =>
  getRow(db, users, eq(users.id, createdBy))!
