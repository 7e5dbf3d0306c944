import { and, eq, isNull } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { countRows } from '../db/queries.ts'
import { apiTokens, users } from '../db/schema.ts'
import { refuseMore } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import { isValid } from './store.ts'

export { tokenScopes } from '../db/schema.ts'

const day = 24 * 3_600_000

type NewToken = Pick<typeof apiTokens.$inferInsert, 'userId' | 'name' | 'scopes'> & {
  projectId?: string | null | undefined
  expiresInDays?: number | null | undefined
}

/** Only here is the token's text returned. */
export function makeToken(
  db: Tx,
  { userId, name, scopes, projectId = null, expiresInDays }: NewToken,
) {
  refuseMore('tokens', countRows(db, apiTokens, eq(apiTokens.userId, userId)))
  const token = `dvt_${randomToken()}`
  const expiresAt = expiresInDays ? new Date(Date.now() + expiresInDays * day) : null
  const values = { userId, name, scopes, projectId, expiresAt, tokenHash: hashToken(token) }
  return { token, row: db.insert(apiTokens).values(values).returning().get() }
}

/** Finds a valid token by its hash. Its user has no password hash. */
export const getToken = (db: Tx, tokenHash: string) =>
  db
    .select({
      token: {
        id: apiTokens.id,
        name: apiTokens.name,
        scopes: apiTokens.scopes,
        projectId: apiTokens.projectId,
        lastUsedAt: apiTokens.lastUsedAt,
      },
      user: { id: users.id, email: users.email, name: users.name, role: users.role },
    })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.tokenHash, tokenHash), isValid(new Date()), isNull(users.disabledAt)))
    .get()

export const setTokenUsed = (db: Tx, { id, at }: { id: string; at: Date }) =>
  db.update(apiTokens).set({ lastUsedAt: at }).where(eq(apiTokens.id, id)).run()

export const deleteTokensOf = (db: Tx, userId: string) =>
  db.delete(apiTokens).where(eq(apiTokens.userId, userId)).run()
