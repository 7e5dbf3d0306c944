import { sql } from 'drizzle-orm'
import { index, integer, real, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'

const id = () => text().primaryKey().$defaultFn(Bun.randomUUIDv7)
const time = () => integer({ mode: 'timestamp_ms' })
const createdAt = () =>
  time()
    .notNull()
    .$defaultFn(() => new Date())
const flag = () => integer({ mode: 'boolean' })

/** One row: which installation this is (the `davit.instance` label) and under which key its secrets are sealed. */
export const installation = sqliteTable('installation', {
  id: id(),
  keyCheck: text().notNull(),
  createdAt: createdAt(),
})

export const users = sqliteTable('users', {
  id: id(),
  /** Stored in lower case. */
  email: text().notNull().unique(),
  name: text(),
  passwordHash: text().notNull(),
  role: text({ enum: ['admin', 'member'] }).notNull(),
  createdAt: createdAt(),
})

const owner = () =>
  text()
    .notNull()
    .references(() => users.id, { onDelete: 'cascade' })

export const sessions = sqliteTable(
  'sessions',
  {
    id: id(),
    userId: owner(),
    tokenHash: text().notNull().unique(),
    userAgent: text().notNull(),
    address: text().notNull(),
    createdAt: createdAt(),
    lastSeenAt: time().notNull(),
    expiresAt: time().notNull(),
  },
  (t) => [index('sessions_by_user').on(t.userId)],
)

export const invites = sqliteTable('invites', {
  id: id(),
  tokenHash: text().notNull().unique(),
  createdBy: owner(),
  createdAt: createdAt(),
  expiresAt: time().notNull(),
  usedAt: time(),
})

/** Failed logins of the throttle's window, kept here so that a restart forgives nothing. */
export const loginFailures = sqliteTable(
  'login_failures',
  {
    id: id(),
    email: text().notNull(),
    address: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index('login_failures_by_email').on(t.email, t.createdAt),
    index('login_failures_by_address').on(t.address, t.createdAt),
  ],
)

export const projects = sqliteTable(
  'projects',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    repositoryUrl: text().notNull(),
    /** Null: the remote's HEAD. */
    branch: text(),
    /** Relative to the repository's root; null: `<contextDir>/Dockerfile`. */
    dockerfilePath: text(),
    contextDir: text().notNull().default('.'),
    buildArgs: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    autoDeploy: flag().notNull().default(true),
    /** Images kept for rollback, per environment. */
    keepImages: integer().notNull().default(5),
    webhookSecret: text().notNull(),
    /** Set while the project's containers, images and files are being removed. */
    deletingAt: time(),
    /** Whether that removal takes the named volumes too. */
    deletingVolumes: flag().notNull().default(false),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('project_name_per_owner').on(t.ownerId, t.name)],
)

const project = () =>
  text()
    .notNull()
    .references(() => projects.id, { onDelete: 'cascade' })

export const environments = sqliteTable(
  'environments',
  {
    id: id(),
    projectId: project(),
    name: text().notNull(),
    /** Null: the project's. */
    branch: text(),
    /** Port the app listens on in its container. Null: the image's first EXPOSE, else 3000. 0: none, a worker. */
    port: integer(),
    /** Port of this host on which it is published; stable from the environment's creation on. */
    hostPort: integer().notNull().unique(),
    domains: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** Null: the gate asks only that the port accepts. */
    healthPath: text(),
    /** Seconds. */
    healthTimeout: integer().notNull().default(60),
    memoryMb: integer().notNull().default(512),
    cpus: real().notNull().default(1),
    /** Null: the project's. */
    autoDeploy: flag(),
    /** Entries `name:/path`. */
    volumes: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('environment_name_per_project').on(t.projectId, t.name)],
)

const environment = () =>
  text()
    .notNull()
    .references(() => environments.id, { onDelete: 'cascade' })

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
    status: text({ enum: deploymentStatuses }).notNull().default('pending'),
    trigger: text({ enum: ['manual', 'webhook', 'rollback', 'api'] }).notNull(),
    /** E-mail of the user, or what else caused it. */
    triggeredBy: text().notNull(),
    /** The deployment whose image a rollback reuses. */
    rollbackOf: text(),
    repositoryUrl: text().notNull(),
    branch: text(),
    /** The commit asked for; the one found is in commitHash. */
    requestedCommit: text(),
    commitHash: text(),
    commitAuthor: text(),
    commitMessage: text(),
    /** Image reference; null before the build and once the image was removed. */
    image: text(),
    containerId: text(),
    url: text(),
    steps: text({ mode: 'json' }).$type<Step[]>().notNull().default([]),
    /** How often the pipeline has been started for it; a crash of Davit makes it 2. */
    attempt: integer().notNull().default(0),
    cancelRequested: flag().notNull().default(false),
    errorStep: text(),
    errorCode: text(),
    errorMessage: text(),
    errorHint: text(),
    /** Milliseconds in which nothing answered while the containers were switched. */
    downtimeMs: integer(),
    createdAt: createdAt(),
    finishedAt: time(),
  },
  (t) => [
    index('deployments_by_project').on(t.projectId, t.id),
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
