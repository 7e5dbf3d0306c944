import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, id, time } from './columns.ts'
import { environments } from './project-schema.ts'

/** What a deployment was asked for, except its time. */
export type PlannedVersion = {
  repositoryUrl?: string | null | undefined
  branch?: string | null | undefined
  tag?: string | null | undefined
  commit?: string | null | undefined
  image?: string | null | undefined
  noCache?: boolean | null | undefined
}

/** The deployment that waits for its time: at most one of an environment. */
export const plannedDeployments = sqliteTable(
  'planned_deployments',
  {
    environmentId: childOf(() => environments.id).primaryKey(),
    at: time().notNull(),
    version: text({ mode: 'json' }).$type<PlannedVersion>().notNull(),
    trigger: text({ enum: ['manual', 'api'] }).notNull(),
    /** The user's e-mail address. */
    plannedBy: text().notNull(),
    /** Why it couldn't be deployed at its time; null before that. */
    problem: text(),
    createdAt: createdAt(),
  },
  (t) => [index('planned_deployments_by_time').on(t.at)],
)

/** A time in which nothing is deployed to an environment, except by those who say why it can't wait. */
export const freezes = sqliteTable(
  'freezes',
  {
    id: id(),
    environmentId: childOf(() => environments.id),
    from: time().notNull(),
    until: time().notNull(),
    reason: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('freezes_by_environment').on(t.environmentId, t.from),
    index('freezes_by_end').on(t.until),
  ],
)

/** A freeze, for the deployment that met it. Without a note it waits for its end, or has. */
export type MetFreeze = { reason: string; until: string; note: string | null }
