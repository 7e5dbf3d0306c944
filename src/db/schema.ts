import { sql } from 'drizzle-orm'
import {
  blob,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { gitProviders } from './account-schema.ts'
import { childOf, createdAt, flag, id, time } from './columns.ts'
import { environments, projects } from './project-schema.ts'
import type { CodeSettings, Command } from './project-schema.ts'
import { runStatuses } from './job-schema.ts'
import { drains } from './drain-schema.ts'
import type { MetFreeze } from './planned-schema.ts'
import { schedules } from './schedule-schema.ts'
import { services } from './service-schema.ts'
import { unwatchedReasons } from './watch-schema.ts'
import type { Share, Watch } from './watch-schema.ts'

export * from './account-schema.ts'
export * from './backup-schema.ts'
export * from './domain-schema.ts'
export * from './drain-schema.ts'
export * from './job-schema.ts'
export * from './notification-schema.ts'
export * from './planned-schema.ts'
export * from './preview-schema.ts'
export * from './project-schema.ts'
export * from './runtime-schema.ts'
export * from './schedule-schema.ts'
export * from './server-schema.ts'
export * from './service-schema.ts'
export * from './target-schema.ts'
export * from './token-schema.ts'
export * from './watch-schema.ts'

const project = () => childOf(() => projects.id)

/** What reports new images, by the bodies of its webhook. */
export const registrySenders = ['docker_hub', 'ghcr', 'harbor', 'quay', 'distribution'] as const

/** The outcome of a webhook delivery, in the order of the checks. What is accepted had an effect, but deployed nothing. */
const deliveryDecisions = ['refused', 'ignored', 'accepted', 'deployed', 'failed'] as const

/** The inbox: providers' deliveries, stored before the response, with their outcome. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    id: id(),
    projectId: project(),
    provider: text({ enum: [...gitProviders, ...registrySenders] }).notNull(),
    /** The provider's own id of the delivery. */
    deliveryId: text().notNull(),
    event: text().notNull(),
    ref: text(),
    commitHash: text(),
    commitMessage: text(),
    signatureOk: flag().notNull(),
    /** The owner's other project whose secret signed it; null for this one's. */
    signedBy: text(),
    /** Set before the response, in the transaction that stored the delivery. */
    decision: text({ enum: deliveryDecisions }),
    reason: text(),
    deploymentIds: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The parsed push, the pull request, or the tag of a new image, for deciding again. */
    push: text({ mode: 'json' }).$type<Record<string, unknown>>(),
    createdAt: createdAt(),
  },
  (t) => [
    index('deliveries_by_project').on(t.projectId, t.id),
    uniqueIndex('one_delivery_per_project')
      .on(t.projectId, t.provider, t.deliveryId)
      .where(sql`signature_ok = 1`),
  ],
)

const environment = () => childOf(() => environments.id)

export const variables = sqliteTable(
  'variables',
  {
    id: id(),
    environmentId: environment(),
    key: text().notNull(),
    /** Sealed when secret. */
    value: text().notNull(),
    secret: flag().notNull().default(false),
    /** Also a build argument. */
    buildTime: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('variable_key_per_environment').on(t.environmentId, t.key)],
)

/** Services that the app of an environment can reach. */
export const links = sqliteTable(
  'links',
  {
    id: id(),
    environmentId: environment(),
    serviceId: childOf(() => services.id),
    /** Maps keys in the app to names of what the service provides. */
    variables: text({ mode: 'json' }).$type<Record<string, string>>().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('one_link_per_service').on(t.environmentId, t.serviceId),
    index('links_by_service').on(t.serviceId),
  ],
)

/** One-off commands, each in its own container from the image that was live. */
export const runs = sqliteTable(
  'runs',
  {
    id: id(), // the same as its job's
    environmentId: environment(),
    deploymentId: text().notNull(),
    /** The schedule that it is a run of, while that exists. */
    scheduleId: text().references(() => schedules.id, { onDelete: 'set null' }),
    /** The user's e-mail address, or the schedule's name. */
    startedBy: text().notNull(),
    command: text({ mode: 'json' }).$type<Command>().notNull(),
    /** In seconds. */
    timeout: integer().notNull(),
    /** It has a terminal, and starts once a client has attached. */
    attach: flag().notNull().default(false),
    /** Its input is that of the first client, for which it waits as well; without a terminal. */
    stdin: flag().notNull().default(false),
    status: text({ enum: runStatuses }).notNull().default('pending'),
    exitCode: integer(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    createdAt: createdAt(),
    finishedAt: time(),
  },
  (t) => [
    index('runs_by_environment').on(t.environmentId, t.id),
    index('runs_by_schedule').on(t.scheduleId, t.id),
  ],
)

/** Values that used to be secret: they stay masked in older logs, and in those of older containers. */
export const pastSecrets = sqliteTable(
  'past_secrets',
  {
    id: id(),
    /** One of the two. */
    environmentId: text().references(() => environments.id, { onDelete: 'cascade' }),
    serviceId: text().references(() => services.id, { onDelete: 'cascade' }),
    /** Sealed. */
    value: text().notNull(),
    /** When it was changed, deleted or made readable. */
    endedAt: time().notNull(),
  },
  (t) => [
    index('past_secrets_by_environment').on(t.environmentId),
    index('past_secrets_by_service').on(t.serviceId),
  ],
)

/** The files of a working copy that were uploaded in place of a commit; they are kept until it has ended. */
export type Upload = {
  id: string
  /** The commit of that working copy, and whether its files differed; null without git. */
  commit: string | null
  message: string | null
  dirty: boolean
  files: number
  bytes: number
}

export const deploymentStatuses = [
  'waiting',
  'pending',
  'cloning',
  'building',
  'deploying',
  'running',
  'failed',
  'cancelled',
  'superseded',
  'stopped',
] as const

/** What the provider said last of a commit that waits, or has waited, for it. */
export type CommitChecks = {
  passed: number
  /** Names of those that haven't ended, and of those that failed. */
  pending: string[]
  failed: string[]
  /** Why the provider didn't say it; null if it did. */
  problem: string | null
}

export type Step = { name: string; startedAt: string; finishedAt: string | null }

export const deployments = sqliteTable(
  'deployments',
  {
    id: id(),
    projectId: project(),
    environmentId: environment(),
    /** Counted from 1 in its project. */
    number: integer().notNull().default(0),
    status: text({ enum: deploymentStatuses }).notNull().default('pending'),
    trigger: text({
      enum: ['manual', 'webhook', 'rollback', 'promotion', 'api', 'image'],
    }).notNull(),
    /** The user's e-mail address, or another cause. */
    triggeredBy: text().notNull(),
    /** The deployment whose image it reuses; null for its own. */
    imageOf: text('rollback_of'),
    /** Empty if it pulls an image, or was uploaded. */
    repositoryUrl: text().notNull(),
    /** Null for a commit of the repository, or an image. */
    upload: text({ mode: 'json' }).$type<Upload>(),
    /** A tag's name, if `refType` is tag; the whole ref of a fork's pull request, if it is pull. */
    branch: text(),
    /** Null until it is known, or when only a commit was asked for. */
    refType: text({ enum: ['branch', 'tag', 'pull'] }),
    /** What it pulls instead of building; null otherwise. */
    pullReference: text(),
    /** The digest that was pulled; or is to be, where a new image was found by it. */
    pullDigest: text(),
    /** The requested commit; the resolved one is in commitHash. */
    requestedCommit: text(),
    /** Its build uses nothing of the engine's cache. */
    noCache: flag().notNull().default(false),
    commitHash: text(),
    commitAuthor: text(),
    commitMessage: text(),
    /** Image reference; null before the build and once the image was removed. */
    image: text(),
    url: text(),
    /** Of its commit, which a rollback uses too; null without any. */
    codeSettings: text({ mode: 'json' }).$type<CodeSettings>(),
    /** Null when it didn't wait for any. */
    checks: text({ mode: 'json' }).$type<CommitChecks>(),
    /** When it gives up to wait. */
    waitUntil: time(),
    /** The time that was chosen for it; null for at once. */
    plannedAt: time(),
    /** The last one that it met; null without any. */
    freeze: text({ mode: 'json' }).$type<MetFreeze>(),
    /** Null when it gets all requests at once. */
    share: text({ mode: 'json' }).$type<Share>(),
    steps: text({ mode: 'json' }).$type<Step[]>().notNull().default([]),
    /** The last commit status sent to the provider; null for none, or when the provider refused it. */
    commitStatus: text('told_provider', { enum: ['pending', 'success', 'failure'] }),
    errorStep: text(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    /** Until when it is watched; null when it isn't. */
    watchUntil: time(),
    /** Null if it never was. */
    watch: text({ mode: 'json' }).$type<Watch>(),
    /** Null for one that is, or was, or didn't go live. */
    unwatched: text({ enum: unwatchedReasons }),
    /** Milliseconds of downtime while the containers were switched. */
    downtimeMs: integer(),
    createdAt: createdAt(),
    finishedAt: time(),
  },
  (t) => [
    index('deployments_by_project').on(t.projectId, t.id),
    uniqueIndex('deployment_number_per_project').on(t.projectId, t.number),
    index('deployments_by_environment').on(t.environmentId, t.id),
    index('deployments_by_status').on(t.status, t.id),
    uniqueIndex('one_active_deployment')
      .on(t.environmentId)
      .where(sql`status IN ('cloning', 'building', 'deploying')`),
    uniqueIndex('one_running_deployment')
      .on(t.environmentId)
      .where(sql`status = 'running'`),
  ],
)

/** Traces that a drain has still to send, when the deployment has ended. */
export const drainTraces = sqliteTable(
  'drain_traces',
  {
    drainId: childOf(() => drains.id),
    deploymentId: childOf(() => deployments.id),
  },
  (t) => [primaryKey({ columns: [t.drainId, t.deploymentId] })],
)

/** What the calls and waits of a deployment took. */
export const deploymentTraces = sqliteTable('deployment_traces', {
  deploymentId: childOf(() => deployments.id).primaryKey(),
  /** Compressed. */
  data: blob({ mode: 'buffer' }).notNull(),
})
