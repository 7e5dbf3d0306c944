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
  { id, environmentId, from, until }: Omit<Freeze, 'reason' | 'createdAt'>,
) =>
  getRow(
    db,
    freezes,
    and(isOf(environmentId), ne(freezes.id, id), lt(freezes.from, until), gt(freezes.until, from)),
  )

/** When the next begins or ends, in milliseconds; null without any. */
export function nextChange(db: Db, now: Date) {
  const starts = { at: min(freezes.from) }
  const ends = { at: min(freezes.until) }
  const times = [
    db.select(starts).from(freezes).where(gt(freezes.from, now)).get()?.at,
    db.select(ends).from(freezes).get()?.at,
  ].flatMap((at) => at?.getTime() ?? [])
  return times.length > 0 ? Math.min(...times) : null
}

export const deleteOver = (db: Db, now: Date) =>
  db.delete(freezes).where(lte(freezes.until, now)).run()
