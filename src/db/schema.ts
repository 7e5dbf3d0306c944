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
  /** Null: logs in with a provider only. */
  passwordHash: text(),
  role: text({ enum: ['admin', 'member'] }).notNull(),
  /** Set by an admin: nothing logs in as this user any more. */
  disabledAt: time(),
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

export const tokenScopes = ['read', 'deploy', 'write'] as const

export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: id(),
    userId: owner(),
    name: text().notNull(),
    tokenHash: text().notNull().unique(),
    scopes: text({ mode: 'json' }).$type<(typeof tokenScopes)[number][]>().notNull(),
    lastUsedAt: time(),
    /** Null: never. */
    expiresAt: time(),
    createdAt: createdAt(),
  },
  (t) => [index('api_tokens_by_user').on(t.userId)],
)

export const gitProviders = ['github', 'gitlab', 'gitea'] as const

/** A user's account at a provider, by the id that survives a change of name. */
export const identities = sqliteTable(
  'identities',
  {
    id: id(),
    userId: owner(),
    provider: text({ enum: gitProviders }).notNull(),
    baseUrl: text().notNull(),
    providerUserId: text().notNull(),
    /** Its name there, for showing. */
    login: text().notNull(),
    /** Sealed. */
    accessToken: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    uniqueIndex('one_user_per_identity').on(t.provider, t.baseUrl, t.providerUserId),
    index('identities_by_user').on(t.userId),
  ],
)

/** Logins under way at the provider; each state is used once. */
export const oauthAttempts = sqliteTable('oauth_attempts', {
  id: id(),
  stateHash: text().notNull().unique(),
  /** Sealed; the PKCE code verifier (RFC 7636). */
  verifier: text().notNull(),
  /** Set when a logged-in user links the identity instead of logging in. */
  userId: text().references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
})

/** A connection to a provider: where it is, and the token to ask it and to clone with. */
export const gitSources = sqliteTable(
  'git_sources',
  {
    id: id(),
    ownerId: owner(),
    provider: text({ enum: gitProviders }).notNull(),
    name: text().notNull(),
    baseUrl: text().notNull(),
    /** Sealed. */
    accessToken: text().notNull(),
    /** Whose token it is, as the provider said when it was added. */
    login: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('git_source_name_per_owner').on(t.ownerId, t.name)],
)

/** Who did what to which object; a row is written once and never changed. */
export const auditEvents = sqliteTable(
  'audit_events',
  {
    id: id(),
    /** Kept when the user goes: the e-mail says who it was. */
    actorId: text(),
    actor: text().notNull(),
    /** Such as `login.failed` or `variable.created`. */
    action: text().notNull(),
    objectKind: text(),
    objectId: text(),
    objectName: text(),
    address: text(),
    details: text({ mode: 'json' }).$type<Record<string, string>>().notNull().default({}),
    createdAt: createdAt(),
  },
  (t) => [
    index('audit_by_actor').on(t.actorId, t.id),
    index('audit_by_action').on(t.action, t.id),
    index('audit_by_object').on(t.objectId, t.id),
  ],
)

export const projects = sqliteTable(
  'projects',
  {
    id: id(),
    ownerId: owner(),
    name: text().notNull(),
    repositoryUrl: text().notNull(),
    /** The source whose token clones it; with it, `repository` is `owner/name` there. */
    sourceId: text().references(() => gitSources.id, { onDelete: 'set null' }),
    repository: text(),
    /** The provider's id of the webhook that Davit registered. */
    webhookId: text(),
    /** Globs, one a line; a push that touches none of them deploys nothing. Empty: every push. */
    watchPaths: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** OpenSSH key pair of the project's own, for `git@` addresses; the private half is sealed. */
    deployKeyPublic: text(),
    deployKeyPrivate: text(),
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

/** What a webhook delivery was found to be, in the order of the checks. */
export const deliveryDecisions = ['refused', 'ignored', 'deployed', 'failed'] as const

/** The inbox: what providers delivered, kept before it is answered, and what became of it. */
export const deliveries = sqliteTable(
  'deliveries',
  {
    id: id(),
    projectId: project(),
    provider: text({ enum: gitProviders }).notNull(),
    /** The provider's own id of it. */
    deliveryId: text().notNull(),
    event: text().notNull(),
    ref: text(),
    commitHash: text(),
    commitMessage: text(),
    signatureOk: flag().notNull(),
    /** Null: answered, but not decided yet. */
    decision: text({ enum: deliveryDecisions }),
    reason: text(),
    deploymentIds: text({ mode: 'json' }).$type<string[]>().notNull().default([]),
    /** The push as it was understood, for deciding again. */
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
