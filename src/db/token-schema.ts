import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { owner } from './account-schema.ts'
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
