import { and, asc, desc, eq, inArray, isNull, max, or, sql } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow, listValues } from '../db/queries.ts'
import { environments, projects, runs, schedules } from '../db/schema.ts'
import { unfinished } from '../runs/store.ts'
import type { Run } from '../runs/store.ts'

export { schedules }

export type Schedule = typeof schedules.$inferSelect

/** Not what is kept for its pause: one of a davit.yaml that the live commit no longer has. */
export function isShown() {
  const names = sql`(
    SELECT value ->> 'name' FROM environments AS e, json_each(e.code_settings, '$.settings.schedules')
    WHERE e.id = schedules.environment_id)`
  return or(eq(schedules.file, ''), inArray(schedules.name, names))
}

export const getScheduleIn = (db: Db, id: string) =>
  db
    .select({ schedule: schedules, environment: environments, project: projects })
    .from(schedules)
    .innerJoin(environments, eq(environments.id, schedules.environmentId))
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(
      and(
        eq(schedules.id, id),
        isShown(),
        isNull(environments.deletingAt),
        isNull(projects.deletingAt),
      ),
    )
    .get()

export type ScheduleIn = NonNullable<ReturnType<typeof getScheduleIn>>

export const listUnfinished = (db: Tx, id: string) =>
  listValues(db, runs.id, and(eq(runs.scheduleId, id), unfinished))

export const getLastRun = (db: Db, id: string): Run | null =>
  getRow(db, runs, eq(runs.scheduleId, id), desc(runs.id)) ?? null

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
    .where(and(eq(schedules.environmentId, environmentId), isShown()))
    .orderBy(asc(schedules.name))
    .all()
    .filter(
      ({ schedule: { problem }, run }) =>
        problem?.reason === 'nothing_deployed' || (problem === null && run?.status === 'failed'),
    )
}
