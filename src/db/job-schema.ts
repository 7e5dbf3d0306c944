import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { createdAt, flag, id, time } from './columns.ts'

export const jobKinds = [
  'deploy',
  'run',
  'start-app',
  'restart-app',
  'stop-app',
  'relocate-app',
  'start',
  'change',
  'restart',
  'stop',
  'move',
  'clean-up',
  'backup',
  'proof',
  'restore',
] as const

/** Kinds of work of which only a few run at a time. */
export const jobSlots = ['build', 'service', 'schedule', 'clean-up', 'backup', 'move'] as const

/** Of what is a job, and kept when that has ended. */
export const runStatuses = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const

/** Long work that is queued or running. The row is removed in the transaction that stores its outcome. */
export const jobs = sqliteTable(
  'jobs',
  {
    /** A deployment's job has the deployment's id. */
    id: id(),
    kind: text({ enum: jobKinds }).notNull(),
    /** The id of the environment or service, or `engine`. */
    subjectId: text().notNull(),
    /** The user it counts for; null for the installation. */
    ownerId: text(),
    status: text({ enum: ['waiting', 'running'] })
      .notNull()
      .default('waiting'),
    /** The kind of slot that it needs, or null. */
    slot: text({ enum: jobSlots }),
    /** How often it was started; a crash of Davit makes it 2. */
    attempt: integer().notNull().default(0),
    cancelRequested: flag().notNull().default(false),
    /** A job that must have ended before it starts. */
    after: text(),
    /** In the format of its kind; sealed if it has secrets. */
    input: text(),
    createdAt: createdAt(),
  },
  (t) => [
    index('jobs_by_subject').on(t.subjectId),
    uniqueIndex('one_running_job')
      .on(t.subjectId)
      .where(sql`status = 'running'`),
  ],
)

/**
 * What was running when this database's backup was made. The next server looks for it on the engine; a row is
 * deleted once its containers were found or redeployed.
 */
export const restoredObjects = sqliteTable('brought_back', {
  id: id(),
  /**
   * `environment`: nothing of it ran, but something may since. `away`: one of these two that may be on a server that
   * couldn’t be reached. `backup`: its databases are to be loaded into a server that starts empty.
   */
  kind: text({ enum: ['deployment', 'environment', 'away', 'service', 'backup'] }).notNull(),
  objectId: text().notNull(),
})

/** The scheduled clean-up: at most one row. */
export const cleanUpSchedule = sqliteTable('clean_up_schedule', {
  id: integer().primaryKey(),
  enabled: flag().notNull(),
  /** Kinds of `POST /settings/prune`, never volumes. */
  what: text({ mode: 'json' }).$type<string[]>().notNull(),
  /** Hour of the day, in the server's time. */
  hour: integer().notNull(),
  /** Percentage of disk usage from which it runs; 0 for always. */
  threshold: integer().notNull(),
  lastRunAt: time(),
  /** The result of the last run, in a sentence. */
  lastOutcome: text(),
})
