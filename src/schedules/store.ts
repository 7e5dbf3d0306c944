import { and, asc, desc, eq, inArray, isNotNull, isNull, lte, max, min } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { changeRow, getRow, listRows, listValues } from '../db/queries.ts'
import { environments, projects, runs, schedules } from '../db/schema.ts'
import { unfinished } from '../runs/store.ts'
import type { Run } from '../runs/store.ts'

export type Schedule = typeof schedules.$inferSelect

/** In milliseconds; null when nothing is planned. */
export const firstDue = (db: Db) =>
  db
    .select({ at: min(schedules.nextAt) })
    .from(schedules)
    .get()
    ?.at?.getTime() ?? null

export const listDue = (db: Db, now: Date) =>
  listValues(db, schedules.id, lte(schedules.nextAt, now))

export const listPlanned = (db: Db) => listRows(db, schedules, isNotNull(schedules.nextAt))

/** Undefined once it, its environment or its project is being deleted. */
export const getScheduleIn = (db: Db, id: string) =>
  db
    .select({ schedule: schedules, environment: environments, project: projects })
    .from(schedules)
    .innerJoin(environments, eq(environments.id, schedules.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(and(eq(schedules.id, id), isNull(environments.deletingAt), isNull(projects.deletingAt)))
    .get()

export type ScheduleIn = NonNullable<ReturnType<typeof getScheduleIn>>

export const setSchedule = (db: Tx, id: string, changes: Partial<Schedule>) =>
  changeRow(db, schedules, id, changes)

export const listUnfinished = (db: Tx, id: string) =>
  listValues(db, runs.id, and(eq(runs.scheduleId, id), unfinished))

export const getLastRun = (db: Db, id: string): Run | null =>
  getRow(db, runs, eq(runs.scheduleId, id), desc(runs.id)) ?? null

/** Those whose last run failed, or which had nothing to run, with that run. */
export function listFailing(db: Db, environmentId: string) {
  const latest = db
    .select({ id: max(runs.id).as('latest_id') })
    .from(runs)
    .where(eq(runs.environmentId, environmentId))
    .groupBy(runs.scheduleId)
  return db
    .select({ schedule: schedules, run: runs })
    .from(schedules)
    .leftJoin(runs, and(eq(runs.scheduleId, schedules.id), inArray(runs.id, latest)))
    .where(eq(schedules.environmentId, environmentId))
    .orderBy(asc(schedules.name))
    .all()
    .filter(
      ({ schedule: { problem }, run }) =>
        problem?.reason === 'nothing_deployed' || (problem === null && run?.status === 'failed'),
    )
}

export type FailingSchedule = ReturnType<typeof listFailing>[number]
