import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { preparedOnce } from '../db/prepared.ts'
import { apiTokens, sessions, users } from '../db/schema.ts'

/** Whether a session still holds: asked for every event of every open stream. */
export const isSessionAlive = (db: Db, id: string) =>
  queriesOf(db).session.get({ id, now: Date.now() }) !== undefined

/** Whether an API token still holds, and its user. */
export const isTokenAlive = (db: Db, id: string) =>
  queriesOf(db).token.get({ id, now: Date.now() }) !== undefined

const queriesOf = preparedOnce((db: Db) => {
  const [id, now] = [sql.placeholder('id'), sql.placeholder('now')]
  return {
    session: db
      .select({ id: sessions.id })
      .from(sessions)
      .where(and(eq(sessions.id, id), gt(sessions.expiresAt, now)))
      .prepare(),
    token: db
      .select({ id: apiTokens.id })
      .from(apiTokens)
      .innerJoin(users, eq(users.id, apiTokens.userId))
      .where(
        and(
          eq(apiTokens.id, id),
          or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, now)),
          isNull(users.disabledAt),
        ),
      )
      .prepare(),
  }
})
