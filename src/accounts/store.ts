import { and, desc, eq, gt, isNull, lte, ne, notInArray, or, sql } from 'drizzle-orm'
import { countRows, preparedOnce } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { apiTokens, invites, sessions, users, loginFailures } from '../db/schema.ts'
import { notFound } from '../platform/errors.ts'

export type UserRow = typeof users.$inferSelect
export type SessionRow = typeof sessions.$inferSelect
export type Invite = typeof invites.$inferSelect

/** The database, or a transaction of it. */
export type Store = Pick<Db, 'select' | 'insert' | 'update' | 'delete' | '$count'>

/** False until the first account exists; the first visitor is then led to make it. */
export const hasUsers = (db: Store) =>
  db.select({ id: users.id }).from(users).limit(1).get() !== undefined

export const getUserByEmail = (db: Store, email: string) =>
  db.select().from(users).where(eq(users.email, email)).get()

export const insertUser = (db: Store, values: typeof users.$inferInsert) =>
  db.insert(users).values(values).returning().get()

export const insertSession = (db: Store, values: typeof sessions.$inferInsert) =>
  db.insert(sessions).values(values).returning().get()

/** The live session of a token's hash, with its user as every page may see it: without the password's hash. */
export const getSession = (db: Store, tokenHash: string) =>
  liveSession(db).get({ tokenHash, now: Date.now() })

const liveSession = preparedOnce((db: Store) =>
  db
    .select({
      session: sessions,
      user: { id: users.id, email: users.email, name: users.name, role: users.role },
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(
      and(
        eq(sessions.tokenHash, sql.placeholder('tokenHash')),
        gt(sessions.expiresAt, sql.placeholder('now')),
        isNull(users.disabledAt),
      ),
    )
    .prepare(),
)

type Login = { token: { id: string } | null; session: { id: string } | null }

/** The role of the user of an API token or a session that still holds, else null. */
export function roleOf(db: Store, { token, session }: Login) {
  const { ofToken, ofSession } = rolesOf(db)
  const now = Date.now()
  const found = token
    ? ofToken.get({ id: token.id, now })
    : ofSession.get({ id: session?.id ?? '', now })
  return found?.role ?? null
}

const rolesOf = preparedOnce((db: Store) => {
  const [id, now] = [sql.placeholder('id'), sql.placeholder('now')]
  return {
    ofSession: db
      .select({ role: users.role })
      .from(sessions)
      .innerJoin(users, eq(users.id, sessions.userId))
      .where(and(eq(sessions.id, id), gt(sessions.expiresAt, now), isNull(users.disabledAt)))
      .prepare(),
    ofToken: db
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

export const setSessionSeen = (
  db: Store,
  { id, ...seen }: Pick<SessionRow, 'id' | 'lastSeenAt' | 'expiresAt'>,
) => db.update(sessions).set(seen).where(eq(sessions.id, id)).run()

export const listSessions = (db: Store, userId: string) =>
  db
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, new Date())))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
    .all()

export const deleteSession = (db: Store, id: string) =>
  db.delete(sessions).where(eq(sessions.id, id)).run()

/** Ends one of the user's own sessions; someone else's is none. */
export function deleteOwnSession(db: Store, { id, userId }: { id: string; userId: string }) {
  const gone = db
    .delete(sessions)
    .where(and(eq(sessions.id, id), eq(sessions.userId, userId)))
    .returning()
    .get()
  if (!gone) throw notFound('session')
  return gone
}

export const deleteOtherSessions = (db: Store, { id, userId }: { id: string; userId: string }) =>
  db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), ne(sessions.id, id)))
    .run()

export const deleteSessionsOf = (db: Store, userId: string) =>
  db.delete(sessions).where(eq(sessions.userId, userId)).run()

export const deleteExpiredSessions = (db: Store) =>
  db.delete(sessions).where(lte(sessions.expiresAt, new Date())).run()

/** Ends those of the user that were seen longest ago, but for so many of the newest. */
export function deleteStaleSessions(db: Store, { userId, keep }: { userId: string; keep: number }) {
  const newest = db
    .select({ id: sessions.id })
    .from(sessions)
    .where(eq(sessions.userId, userId))
    .orderBy(desc(sessions.lastSeenAt), desc(sessions.id))
    .limit(keep)
  db.delete(sessions)
    .where(and(eq(sessions.userId, userId), notInArray(sessions.id, newest)))
    .run()
}

const isOpen = () => and(isNull(invites.usedAt), gt(invites.expiresAt, new Date()))

export const insertInvite = (db: Store, values: typeof invites.$inferInsert) =>
  db.insert(invites).values(values).returning().get()

/** An invitation that can still be taken up. */
export const getOpenInvite = (db: Store, tokenHash: string) =>
  db
    .select()
    .from(invites)
    .where(and(eq(invites.tokenHash, tokenHash), isOpen()))
    .get()

export const countOpenInvites = (db: Store, createdBy: string) =>
  countRows(db, invites, and(eq(invites.createdBy, createdBy), isOpen()))

export const listOpenInvites = (db: Store) =>
  db.select().from(invites).where(isOpen()).orderBy(desc(invites.id)).all()

export const setInviteUsed = (db: Store, id: string) =>
  db.update(invites).set({ usedAt: new Date() }).where(eq(invites.id, id)).run()

export function deleteOpenInvite(db: Store, id: string) {
  const gone = db
    .delete(invites)
    .where(and(eq(invites.id, id), isOpen()))
    .returning()
    .get()
  if (!gone) throw notFound('invitation')
}

export const insertFailure = (db: Store, values: { email: string; address: string }) =>
  db.insert(loginFailures).values(values).run()

/** The time of the nth newest failure of an e-mail or an address after the given time. */
export const getFailureTime = (
  db: Store,
  { by, value, nth, after }: { by: 'email' | 'address'; value: string; nth: number; after: Date },
) =>
  db
    .select({ at: loginFailures.createdAt })
    .from(loginFailures)
    .where(and(eq(loginFailures[by], value), gt(loginFailures.createdAt, after)))
    .orderBy(desc(loginFailures.createdAt))
    .limit(1)
    .offset(nth - 1)
    .get()?.at

export const deleteFailuresOf = (db: Store, email: string) =>
  db.delete(loginFailures).where(eq(loginFailures.email, email)).run()

/** Also those of a time to come, when the clock was put back: nobody waits for that to pass. */
export const deleteFailuresOutside = (db: Store, { after, until }: { after: Date; until: Date }) =>
  db
    .delete(loginFailures)
    .where(or(lte(loginFailures.createdAt, after), gt(loginFailures.createdAt, until)))
    .run()

/** Milliseconds that a clock may be put back without anything to mend. */
export const tolerance = 24 * 3_600_000

/**
 * What was made at a time to come counts as made now: a clock that ran ahead for a while leaves
 * nothing behind that is good for years.
 */
export function resetFutureTimes(db: Store) {
  const now = new Date()
  const from = new Date(now.getTime() + tolerance)
  for (const table of [sessions, apiTokens, invites])
    db.update(table)
      .set({
        expiresAt: sql`${table.expiresAt} - ${table.createdAt} + ${now.getTime()}`,
        createdAt: now,
      })
      .where(gt(table.createdAt, from))
      .run()
}
