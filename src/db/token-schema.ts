import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { owner, users } from './account-schema.ts'
import { createdAt, id, time } from './columns.ts'
import { projects } from './project-schema.ts'

export const tokenScopes = ['metrics', 'read', 'deploy', 'write'] as const

export const apiTokens = sqliteTable(
  'api_tokens',
  {
    id: id(),
    userId: owner(),
    name: text().notNull(),
    tokenHash: text().notNull().unique(),
    scopes: text({ mode: 'json' }).$type<(typeof tokenScopes)[number][]>().notNull(),
    /** The only project that it reaches; null for all of its user's. */
    projectId: text().references(() => projects.id, { onDelete: 'cascade' }),
    lastUsedAt: time(),
    /** Null for a token that never expires. */
    expiresAt: time(),
    createdAt: createdAt(),
  },
  (t) => [index('api_tokens_by_user').on(t.userId)],
)

/** Logins of users’ own computers that wait until one is allowed in a browser. */
export const deviceLogins = sqliteTable('device_logins', {
  id: id(),
  /** Of the secret that the computer keeps, and of the code that its user compares. */
  secretHash: text().notNull().unique(),
  codeHash: text().notNull().unique(),
  name: text().notNull(),
  /** Of the client that began it: its IPv4 address, or its IPv6 network. */
  network: text().notNull(),
  /** Null until someone allowed it. */
  userId: text().references(() => users.id, { onDelete: 'cascade' }),
  createdAt: createdAt(),
  expiresAt: time().notNull(),
})
