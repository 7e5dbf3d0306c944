import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, flag, id, time } from './columns.ts'
import { environments } from './project-schema.ts'
import type { Command } from './project-schema.ts'

/** What happens at a due time while the last run continues. */
const overlaps = ['skip', 'queue', 'replace'] as const

/** Commands of an environment that run at times. */
export const schedules = sqliteTable(
  'schedules',
  {
    id: id(),
    environmentId: childOf(() => environments.id),
    name: text().notNull(),
    command: text({ mode: 'json' }).$type<Command>().notNull(),
    /** A cron expression, in the time of an IANA zone. */
    schedule: text().notNull(),
    zone: text().notNull().default('UTC'),
    overlap: text({ enum: overlaps }).notNull().default('skip'),
    missed: text({ enum: ['skip', 'once'] })
      .notNull()
      .default('skip'),
    /** In seconds; null for the usual one. */
    timeout: integer(),
    /** False while it is paused. */
    enabled: flag().notNull().default(true),
    /** The davit.yaml that it comes from, if the live commit has it; empty for one of a user. */
    file: text().notNull().default(''),
    /** Null while it is paused. */
    nextAt: time(),
    /** The last time that was due, and why nothing ran then; null when something did. */
    dueAt: time(),
    problem: text({ mode: 'json' }).$type<ScheduleProblem>(),
    createdAt: createdAt(),
  },
  (t) => [
    index('schedules_by_next').on(t.nextAt),
    uniqueIndex('schedule_name_per_environment').on(t.environmentId, t.file, t.name),
  ],
)

/** Only `nothing_deployed` is a failure; the others follow from what someone chose. */
export type ScheduleProblem = {
  reason: 'overlap' | 'missed' | 'owner_disabled' | 'nothing_deployed'
  message: string
}
