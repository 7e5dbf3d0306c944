import { and, asc, eq, isNull, lte, min } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow, listRows } from '../db/queries.ts'
import { plannedDeployments } from '../db/schema.ts'

export type Planned = typeof plannedDeployments.$inferSelect

const isOf = (environmentId: string) => eq(plannedDeployments.environmentId, environmentId)

export const getPlanned = (db: Db, environmentId: string): Planned | null =>
  getRow(db, plannedDeployments, isOf(environmentId)) ?? null

/** Replaces the one of its environment. */
export const savePlanned = (tx: Tx, row: typeof plannedDeployments.$inferInsert) =>
  tx
    .insert(plannedDeployments)
    .values(row)
    .onConflictDoUpdate({
      target: plannedDeployments.environmentId,
      set: { problem: null, createdAt: new Date(), ...row },
    })
    .returning()
    .get()

/** False when there was none. */
export const deletePlanned = (db: Db, environmentId: string) =>
  db.delete(plannedDeployments).where(isOf(environmentId)).returning().all().length > 0

export const setPlannedProblem = (db: Db, environmentId: string, problem: string) =>
  db.update(plannedDeployments).set({ problem }).where(isOf(environmentId)).run()

/** In milliseconds; null without any. */
export const firstPlanned = (db: Db) =>
  db
    .select({ at: min(plannedDeployments.at) })
    .from(plannedDeployments)
    .where(isNull(plannedDeployments.problem))
    .get()
    ?.at?.getTime() ?? null

export const listDuePlanned = (db: Db, now: Date) =>
  listRows(
    db,
    plannedDeployments,
    and(lte(plannedDeployments.at, now), isNull(plannedDeployments.problem)),
    asc(plannedDeployments.at),
  )
