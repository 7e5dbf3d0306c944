import { and, asc, eq, gt, lt, lte, min, ne } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { getRow } from '../db/queries.ts'
import { freezes } from '../db/schema.ts'

export type Freeze = typeof freezes.$inferSelect

const isOf = (environmentId: string) => eq(freezes.environmentId, environmentId)

/** Those that aren't over. */
export const isToCome = (now = new Date()) => gt(freezes.until, now)

/** The one in which nothing is deployed now. */
export const getFreeze = (db: Db, environmentId: string, now = new Date()): Freeze | null =>
  getRow(db, freezes, and(isOf(environmentId), lte(freezes.from, now), isToCome(now))) ?? null

/** The one of now, or else the next. */
export const getNextFreeze = (db: Db, environmentId: string): Freeze | null =>
  getRow(db, freezes, and(isOf(environmentId), isToCome()), asc(freezes.from)) ?? null

/** Another one of these times. */
export const getOverlapping = (
  db: Db,
  {
    id = '',
    environmentId,
    from,
    until,
  }: Omit<Freeze, 'id' | 'reason' | 'createdAt'> & { id?: string },
) =>
  getRow(
    db,
    freezes,
    and(isOf(environmentId), ne(freezes.id, id), lt(freezes.from, until), gt(freezes.until, from)),
  )

/** In milliseconds; null without any. */
export const firstEnd = (db: Db) =>
  db
    .select({ at: min(freezes.until) })
    .from(freezes)
    .get()
    ?.at?.getTime() ?? null

export const deleteOver = (db: Db, now: Date) =>
  db.delete(freezes).where(lte(freezes.until, now)).run()
