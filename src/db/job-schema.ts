import { sql } from 'drizzle-orm'
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { createdAt, flag, id } from './columns.ts'

export const jobKinds = [
  'deploy',
  'run',
  'start-app',
  'restart-app',
  'stop-app',
  'start',
  'change',
  'restart',
  'stop',
  'clean-up',
] as const

/** What few may do at once. */
export const jobSlots = ['build', 'service', 'clean-up'] as const

/** Long work that waits or is under way: its end removes the row, in one transaction with its outcome. */
export const jobs = sqliteTable(
  'jobs',
  {
    /** Of a deployment's job: the deployment's. */
    id: id(),
    kind: text({ enum: jobKinds }).notNull(),
    /** The environment or service that is worked on, or `engine`. */
    subjectId: text().notNull(),
    /** Whose turn it takes; null: the installation's. */
    ownerId: text(),
    status: text({ enum: ['waiting', 'running'] })
      .notNull()
      .default('waiting'),
    /** Which slots it needs one of; null: none. */
    slot: text({ enum: jobSlots }),
    /** How often it was begun; a crash of Davit makes it 2. */
    attempt: integer().notNull().default(0),
    cancelRequested: flag().notNull().default(false),
    /** What is to be done, as its kind writes it; sealed where it has secrets. */
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
 * What ran when the backup was made that this database comes from. The next server looks for it on the
 * engine; a row goes once its containers were found, or are on their way again.
 */
export const broughtBack = sqliteTable('brought_back', {
  id: id(),
  kind: text({ enum: ['deployment', 'service'] }).notNull(),
  objectId: text().notNull(),
})
