import { and, desc, eq, inArray, isNull, like, notInArray, notLike } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { countRows, getRow, listPage, listRows, listValues } from '../db/queries.ts'
import { deployments, environments, projects, runs, runStatuses, schedules } from '../db/schema.ts'
import { endJob } from '../jobs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { found } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

export { runStatuses }

export type Run = typeof runs.$inferSelect
export type RunStatus = Run['status']

const active: RunStatus[] = ['pending', 'running']

export const isEnded = (status: RunStatus) => !active.includes(status)

export const unfinished = inArray(runs.status, active)

export const logOf = ({ id, environmentId }: Pick<Run, 'id' | 'environmentId'>): LogKey => ({
  sourceId: environmentId,
  logId: id,
})

export const insertRun = (db: Db, values: typeof runs.$inferInsert): Run =>
  db.insert(runs).values(values).returning().get()

export const findRun = (
  db: Db,
  { id, environmentId }: { id: string; environmentId: string },
): Run =>
  found('run', getRow(db, runs, and(eq(runs.id, id), eq(runs.environmentId, environmentId))))

export const getStatus = (db: Db, id: string): RunStatus =>
  listValues(db, runs.status, eq(runs.id, id))[0] ?? 'cancelled'

/** A page of an environment's runs plus one more row, newest first. */
export const pageOfRuns = (db: Db, { environmentId, ...page }: { environmentId: string } & Page) =>
  listPage(db, runs, eq(runs.environmentId, environmentId), page)

export const getRunIn = (db: Db, id: string) =>
  db
    .select({ run: runs, environment: environments, project: projects, deployment: deployments })
    .from(runs)
    .innerJoin(environments, eq(environments.id, runs.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .innerJoin(deployments, eq(deployments.id, runs.deploymentId))
    .where(eq(runs.id, id))
    .get()

export type RunIn = NonNullable<ReturnType<typeof getRunIn>>

/** The unfinished runs of all environments of a user, without those of schedules, which take turns. */
export const countActive = (db: Db, ownerId: string) => {
  const own = db
    .select({ id: environments.id })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(eq(projects.ownerId, ownerId))
  return countRows(
    db,
    runs,
    and(inArray(runs.environmentId, own), isNull(runs.scheduleId), unfinished),
  )
}

export const getSchedule = (db: Db, id: string) => getRow(db, schedules, eq(schedules.id, id))

/** Call it before its container is created from that deployment's image. */
export const setDeployment = (db: Db, id: string, deploymentId: string) =>
  db.update(runs).set({ deploymentId }).where(eq(runs.id, id)).run()

/** Returns false when it already is running. */
export const setRunning = (db: Db, id: string) =>
  db
    .update(runs)
    .set({ status: 'running' })
    .where(and(eq(runs.id, id), eq(runs.status, 'pending')))
    .returning({ id: runs.id })
    .get() !== undefined

export type RunEnd = Pick<Run, 'status'> &
  Partial<Pick<Run, 'exitCode' | 'errorCode' | 'errorMessage' | 'errorHint'>>

export const endRun = (db: Db, id: string, end: RunEnd) =>
  db.transaction((tx) => {
    endJob(tx, id)
    const ended = tx
      .update(runs)
      .set({ ...end, finishedAt: new Date() })
      .where(and(eq(runs.id, id), unfinished))
      .returning({ id: runs.id })
      .get()
    return ended !== undefined
  })

/** Who started a run, where no one did. */
export const bySchedule = (name: string) => `schedule ${name}`

/**
 * Ended runs, except the given number of newest: of their schedule, or of those that people started; and of all
 * schedules that are gone.
 */
export function listOld(
  db: Db,
  { environmentId, scheduleId }: Pick<Run, 'environmentId' | 'scheduleId'>,
  newest: number,
) {
  const isOfGone = like(runs.startedBy, bySchedule('%'))
  const isOfPerson = notLike(runs.startedBy, bySchedule('%'))
  const own = scheduleId
    ? eq(runs.scheduleId, scheduleId)
    : and(isNull(runs.scheduleId), isOfPerson)
  const ended = and(eq(runs.environmentId, environmentId), notInArray(runs.status, active))
  return [own, and(isNull(runs.scheduleId), isOfGone)].flatMap((kind) =>
    listRows(db, runs, and(ended, kind), desc(runs.id)).slice(newest),
  )
}

export const deleteRun = (db: Db, id: string) => db.delete(runs).where(eq(runs.id, id)).run()
