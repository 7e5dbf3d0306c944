import { and, desc, eq, gt, isNull, lt, or } from 'drizzle-orm'
import { countRows } from '../db/queries.ts'
import { apiTokens, users } from '../db/schema.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'
import type { Store } from './store.ts'

export { tokenScopes } from '../db/schema.ts'
export type TokenRow = typeof apiTokens.$inferSelect

export const insertToken = (db: Store, values: typeof apiTokens.$inferInsert) =>
  db.insert(apiTokens).values(values).returning().get()

export const countTokens = (db: Store, userId: string) =>
  countRows(db, apiTokens, eq(apiTokens.userId, userId))

/** A page of the user's tokens with one row too many, newest first; what has expired is still shown. */
export const listTokens = (db: Store, { userId, cursor, limit }: { userId: string } & Page) =>
  db
    .select()
    .from(apiTokens)
    .where(and(eq(apiTokens.userId, userId), cursor ? lt(apiTokens.id, cursor) : undefined))
    .orderBy(desc(apiTokens.id))
    .limit(limit + 1)
    .all()

const isAlive = () =>
  and(
    or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, new Date())),
    isNull(users.disabledAt),
  )

/** The token of a hash, while it holds, with its user as every page may see it. */
export const getToken = (db: Store, tokenHash: string) =>
  db
    .select({
      token: {
        id: apiTokens.id,
        name: apiTokens.name,
        scopes: apiTokens.scopes,
        lastUsedAt: apiTokens.lastUsedAt,
      },
      user: { id: users.id, email: users.email, name: users.name, role: users.role },
    })
    .from(apiTokens)
    .innerJoin(users, eq(users.id, apiTokens.userId))
    .where(and(eq(apiTokens.tokenHash, tokenHash), isAlive()))
    .get()

export const setTokenUsed = (db: Store, { id, at }: { id: string; at: Date }) =>
  db.update(apiTokens).set({ lastUsedAt: at }).where(eq(apiTokens.id, id)).run()

/** Revokes one of the user's own tokens; someone else's is none. */
export function deleteOwnToken(db: Store, { id, userId }: { id: string; userId: string }) {
  const gone = db
    .delete(apiTokens)
    .where(and(eq(apiTokens.id, id), eq(apiTokens.userId, userId)))
    .returning()
    .get()
  if (!gone) throw notFound('token')
  return gone
}

export const deleteTokensOf = (db: Store, userId: string) =>
  db.delete(apiTokens).where(eq(apiTokens.userId, userId)).run()
