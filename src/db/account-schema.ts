import { index, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core'
import { childOf, createdAt, id, time } from './columns.ts'

/** One row: the id of this installation (the `davit.instance` label) and a check of its secret key. */
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
  /** Null for users who only log in with a provider. */
  passwordHash: text(),
  role: text({ enum: ['admin', 'member'] }).notNull(),
  /** Set when an admin disabled the user, who can no longer log in. */
  disabledAt: time(),
  /** Set while their projects and services are being removed: the user is deleted last. */
  deletingAt: time(),
  createdAt: createdAt(),
})

export const owner = () => childOf(() => users.id)

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

/** Links in mails with which a user sets a new password. */
export const passwordResets = sqliteTable(
  'password_resets',
  {
    id: id(),
    userId: owner(),
    tokenHash: text().notNull().unique(),
    createdAt: createdAt(),
    expiresAt: time().notNull(),
  },
  (t) => [index('password_resets_by_user').on(t.userId)],
)

export const invites = sqliteTable('invites', {
  id: id(),
  tokenHash: text().notNull().unique(),
  /** To whom it was mailed. */
  email: text(),
  createdBy: owner(),
  createdAt: createdAt(),
  expiresAt: time().notNull(),
  usedAt: time(),
})

/** Failed logins in the throttle's window, stored so that they survive a restart. */
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
    /** Its name there, for display. */
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

/** Logins in progress at the provider. Each state is used once. */
export const oauthAttempts = sqliteTable('oauth_attempts', {
  id: id(),
  stateHash: text().notNull().unique(),
  /** The sealed PKCE code verifier (RFC 7636). */
  verifier: text().notNull(),
  /** Set when a logged-in user links the identity instead of logging in. */
  userId: text().references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
})

/** A connection to a provider: its address, and the token for its API and for clones. */
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
    /** The owner of the token, as the provider named it when it was added. */
    login: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [uniqueIndex('git_source_name_per_owner').on(t.ownerId, t.name)],
)

/** Who did what to which object. A row is written once and never changed. */
export const auditEvents = sqliteTable(
  'audit_events',
  {
    id: id(),
    /** Kept when the user is deleted: the e-mail address identifies them. */
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
