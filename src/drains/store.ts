import { and, asc, desc, eq, gt, inArray, isNull, notInArray } from 'drizzle-orm'
import type { Db, LogDb } from '../db/index.ts'
import { countRows, hasRow, listRows, listValues } from '../db/queries.ts'
import { drainCursors, outputBlocks } from '../db/log-schema.ts'
import { deployments, drains, drainTraces, environments, projects, users } from '../db/schema.ts'
import { unended } from '../deployments/store.ts'
import { isOf } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'

export type Drain = typeof drains.$inferSelect
export type DrainCursor = typeof drainCursors.$inferSelect

const of = { environment: environments, project: projects }

/** Drains that send: neither their app is being deleted nor their owner disabled. */
export const listActive = (db: Db) =>
  active(db)
    .all()
    .map(({ drain, project }) => ({
      ...{ id: drain.id, ownerId: project.ownerId },
      hasTraces: drain.traces,
    }))

/** With what it belongs to; undefined when it doesn't send. */
export const getActive = (db: Db, id: string) => active(db, id).get()

const active = (db: Db, id?: string) =>
  db
    .select({ drain: drains, ...of })
    .from(drains)
    .innerJoin(environments, eq(environments.id, drains.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .innerJoin(users, eq(users.id, projects.ownerId))
    .where(
      and(
        id === undefined ? undefined : eq(drains.id, id),
        isNull(environments.deletingAt),
        isNull(projects.deletingAt),
        isNull(users.disabledAt),
      ),
    )

export const hasDrains = (db: Db) => hasRow(db, drains)

/** Undefined before its first run. */
export const getCursor = (logDb: LogDb, drainId: string): DrainCursor | undefined =>
  logDb.select().from(drainCursors).where(eq(drainCursors.drainId, drainId)).get()

export const saveCursor = (logDb: LogDb, cursor: DrainCursor) =>
  logDb
    .insert(drainCursors)
    .values(cursor)
    .onConflictDoUpdate({ target: drainCursors.drainId, set: cursor })
    .run()

/** The cursor of a drain's traces: its sequence is of no use. */
export const ofTraces = (drainId: string) => `${drainId} traces`

/** The oldest deployment that has ended, and whose trace hasn't been sent. One that is watched may yet fail. */
export const getUnsent = (db: Db, drainId: string) =>
  db
    .select({ deployment: deployments })
    .from(drainTraces)
    .innerJoin(deployments, eq(deployments.id, drainTraces.deploymentId))
    .where(
      and(
        eq(drainTraces.drainId, drainId),
        notInArray(deployments.status, unended),
        isNull(deployments.watchUntil),
      ),
    )
    .orderBy(asc(deployments.id))
    .limit(1)
    .get()?.deployment

export const countUnsent = (db: Db, drainId: string) =>
  countRows(db, drainTraces, eq(drainTraces.drainId, drainId))

export const forgetTrace = (db: Db, drainId: string, deploymentId: string) =>
  db
    .delete(drainTraces)
    .where(and(eq(drainTraces.drainId, drainId), eq(drainTraces.deploymentId, deploymentId)))
    .run()

/** Removes those of drains that no longer exist, and traces that aren't wanted any more. */
export function deleteCursors(db: Db, logDb: LogDb) {
  const known = listValues(db, drains.id).flatMap((id) => [id, ofTraces(id)])
  logDb.delete(drainCursors).where(notInArray(drainCursors.drainId, known)).run()
  const without = db.select({ id: drains.id }).from(drains).where(eq(drains.traces, false))
  db.delete(drainTraces).where(inArray(drainTraces.drainId, without)).run()
}

export const listDrains = (db: Db, environmentIds: string[]): Drain[] =>
  listRows(db, drains, inArray(drains.environmentId, environmentIds))

const ends = (logDb: LogDb) =>
  logDb.select({ last: outputBlocks.last }).from(outputBlocks).$dynamic()

/** The number of the newest line; 0 without any. */
export const getLast = (logDb: LogDb, log: LogKey) =>
  ends(logDb).where(isOf(log)).orderBy(desc(outputBlocks.first)).limit(1).get()?.last ?? 0

/** The number of the newest line, if all lines were removed; else 0. */
export const getLastRemoved = (logDb: LogDb, log: LogKey) =>
  ends(logDb)
    .where(and(isOf(log), gt(outputBlocks.first, outputBlocks.last)))
    .orderBy(desc(outputBlocks.first))
    .limit(1)
    .get()?.last ?? 0
