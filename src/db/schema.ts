import { sql } from 'drizzle-orm'
import { index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { gitProviders, gitSources, owner } from './account-schema.ts'
import { childOf, createdAt, flag, id, time } from './columns.ts'
import { onlyWeb } from './process.ts'
import type { Command, Process, ProcfileEntry } from './process.ts'
import { services } from './service-schema.ts'

export * from './account-schema.ts'
export * from './domain-schema.ts'
export * from './job-schema.ts'
export type { Command, Process, ProcfileEntry } from './process.ts'
export * from './runtime-schema.ts'
export * from './service-schema.ts'

export const projects = sqliteTable(
  'projects',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    repositoryUrl: text().notNull(),
    /** The source whose token clones it; `repository` is `owner/name` there. */
    sourceId: text().references(() => gitSources.id, { onDelete: 'set null' }),
    repository: text(),
    /** The provider's id of the webhook that Davit registered. */
    webhookId: text(),
    /** Globs: a push that touches no matching file deploys nothing. An empty list matches every push. */
    watchPaths: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The project's own OpenSSH key pair, for `git@` addresses; the private key is sealed. */
    deployKeyPublic: text(),
    deployKeyPrivate: text(),
    /** Null for the remote's HEAD. */
    branch: text(),
    /** Relative to the repository's root; null for `<contextDir>/Dockerfile`. */
    dockerfilePath: text(),
    contextDir: text().notNull().default('.'),
    buildArgs: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    /** A build gets `.git`, with the whole history and all tags. */
    gitDirectory: flag().notNull().default(false),
    /** Commands of a build can reach a network. */
    buildNetwork: flag().notNull().default(true),
    autoDeploy: flag().notNull().default(true),
    /** Images kept for rollback, per environment. */
    keepImages: integer().notNull().default(5),
    /** The number of the newest deployment, which may have been deleted with its environment. */
    lastNumber: integer().notNull().default(0),
    webhookSecret: text().notNull(),
    /** Its owner has seen that secret: each one is shown once. */
    webhookSecretShown: flag().notNull().default(false),
    /** The secret was replaced when the project got another owner, so the provider may have the old one. */
    webhookOutdated: flag().notNull().default(false),
    /** Set while the project's containers, images and files are being removed. */
    deletingAt: time(),
    /** That removal deletes the named volumes too. */
    deletingVolumes: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('project_name_per_owner').on(t.ownerId, t.name)],
)

const project = () => childOf(() => projects.id)

export const environments = sqliteTable(
  'environments',
  {
    id: id(),
    projectId: project(),
    name: text().notNull(),
    /** Null for the project's. */
    branch: text(),
    /** The app's port in its container. Null: the image's first EXPOSE, else 3000. 0: none, a worker. */
    port: integer(),
    /** Port of this host on which it is reached without a domain; never changes by itself. */
    hostPort: integer().notNull().unique(),
    /** A user chose that port: then Docker publishes it itself, even with an edge. */
    portSet: flag().notNull().default(false),
    /** Its name under DAVIT_DOMAIN; null in a row of an earlier version, until the next start fills it. */
    label: text().unique(),
    /** Seconds until open connections are closed when an instance is replaced. */
    drainSeconds: integer().notNull().default(30),
    /** Null when the gate only requires that the port accepts connections. */
    healthPath: text(),
    /** The Host header of the probe. Null: its first domain, else localhost. */
    healthHost: text(),
    /** In seconds. */
    healthTimeout: integer().notNull().default(60),
    memoryMb: integer().notNull().default(512),
    cpus: real().notNull().default(1),
    /** Null for the project's. */
    autoDeploy: flag(),
    /** Entries `name:/path`. */
    volumes: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** In the order of their start; all run the image of one deployment. */
    processes: text({ mode: 'json' }).$type<Process[]>().notNull().default([onlyWeb]),
    /** Runs once in a container of the new image before anything is switched. */
    releaseCommand: text({ mode: 'json' }).$type<Command>(),
    /** In seconds. */
    releaseTimeout: integer().notNull().default(600),
    /** Read from the commit that was built last; suggested, never applied automatically. Null without one. */
    procfile: text({ mode: 'json' }).$type<ProcfileEntry[]>(),
    /** Set while its containers and images are being removed; its volumes stay. */
    deletingAt: time(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('environment_name_per_project').on(t.projectId, t.name)],
)

/** The outcome of a webhook delivery, in the order of the checks. */
const deliveryDecisions = ['refused', 'ignored', 'deployed', 'failed'] as const

/** The inbox: providers' deliveries, stored before the response, with their outcome. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    id: id(),
    projectId: project(),
    provider: text({ enum: gitProviders }).notNull(),
    /** The provider's own id of the delivery. */
    deliveryId: text().notNull(),
    event: text().notNull(),
    ref: text(),
    commitHash: text(),
    commitMessage: text(),
    signatureOk: flag().notNull(),
    /** Set before the response, in the transaction that stored the delivery. */
    decision: text({ enum: deliveryDecisions }),
    reason: text(),
    deploymentIds: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The parsed push, for deciding again. */
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

export const runStatuses = ['pending', 'running', 'succeeded', 'failed', 'cancelled'] as const

/** One-off commands, each in its own container from the image that was live. */
export const runs = sqliteTable(
  'runs',
  {
    id: id(), // the same as its job's
    environmentId: environment(),
    /** The deployment whose image it runs. */
    deploymentId: text().notNull(),
    /** The user's e-mail address. */
    startedBy: text().notNull(),
    command: text({ mode: 'json' }).$type<Command>().notNull(),
    /** In seconds. */
    timeout: integer().notNull(),
    /** It has a terminal, and starts once a client has attached. */
    attach: flag().notNull().default(false),
    status: text({ enum: runStatuses }).notNull().default('pending'),
    exitCode: integer(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    createdAt: createdAt(),
    finishedAt: time(),
  },
  (t) => [index('runs_by_environment').on(t.environmentId, t.id)],
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

export const deploymentStatuses = [
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
    trigger: text({ enum: ['manual', 'webhook', 'rollback', 'api'] }).notNull(),
    /** The user's e-mail address, or another cause. */
    triggeredBy: text().notNull(),
    /** The deployment whose image it reuses; null for its own. */
    imageOf: text('rollback_of'),
    repositoryUrl: text().notNull(),
    branch: text(),
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
    steps: text({ mode: 'json' }).$type<Step[]>().notNull().default([]),
    /** The last commit status sent to the provider; null for none, or when the provider refused it. */
    commitStatus: text('told_provider', { enum: ['pending', 'success', 'failure'] }),
    errorStep: text(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
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
