import { integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, flag, time } from './columns.ts'
import { environments, projects } from './project-schema.ts'

/** Environments of pull requests, which are deleted with them. */
export const previews = sqliteTable(
  'previews',
  {
    environmentId: childOf(() => environments.id).primaryKey(),
    projectId: childOf(() => projects.id),
    /** Of the pull request. */
    number: integer().notNull(),
    title: text().notNull(),
    url: text().notNull(),
    /** Its whole ref in the project's own repository, such as `refs/pull/12/head`. */
    ref: text().notNull(),
    /** The newest one that was pushed. */
    headCommit: text().notNull(),
    /** Its commits are of another repository, so each is deployed only once it was approved. */
    isFork: flag().notNull(),
    approvedCommit: text(),
    /** Moved by each push. */
    expiresAt: time().notNull(),
  },
  (t) => [uniqueIndex('preview_number_per_project').on(t.projectId, t.number)],
)
