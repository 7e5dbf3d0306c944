import { and, eq, gt, isNull, or, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { preparedOnce } from '../db/prepared.ts'
import { apiTokens, sessions, users } from '../db/schema.ts'

/** The role of the user of a session that still holds: asked for every event of every open stream. */
export const roleOfSession = (db: Db, id: string) =>
  queriesOf(db).session.get({ id, now: Date.now() })?.role ?? null

/** The same of an API token. */
export const roleOfToken = (db: Db, id: string) =>
  queriesOf(db).token.get({ id, now: Date.now() })?.role ?? null

const queriesOf = preparedOnce((db: Db) => {
  const [id, now] = [sql.placeholder('id'), sql.placeholder('now')]
  return {
    session: db
      .select({ role: users.role })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(sessions.id, id), gt(sessions.expiresAt, now), isNull(users.disabledAt)))
      .prepare(),
    token: db
      .select({ role: users.role })
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
