import { and, desc, eq, gt, isNull, lt, lte, ne, notInArray, or, sql } from 'drizzle-orm'
import type { SQLWrapper } from 'drizzle-orm'
import { refuseDuplicate } from '../db/failures.ts'
import type { Tx } from '../db/index.ts'
import { deleteFound, getRow, hasRow, listPage, listRows, preparedOnce } from '../db/queries.ts'
import {
  apiTokens,
  invites,
  deviceLogins,
  passwordResets,
  projects,
  services,
  sessions,
  users,
} from '../db/schema.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

export type UserRow = typeof users.$inferSelect
export type SessionRow = typeof sessions.$inferSelect

/** False until the first account exists, which the first visitor is redirected to create. */
export const hasUsers = (db: Tx) => hasRow(db, users)

export const hasSeveralUsers = (db: Tx) =>
  db.select({ id: users.id }).from(users).limit(2).all().length > 1

export const getUserByEmail = (db: Tx, email: string) => getRow(db, users, eq(users.email, email))

export const insertUser = (db: Tx, values: typeof users.$inferInsert) =>
  db.insert(users).values(values).returning().get()

/** Newest first, with one more row than the page, which shows that more follow. Counts what each user has. */
export const listUsers = (db: Tx, { cursor, limit }: Page) =>
  db
    .select({
      user: users,
      projects: db.$count(projects, eq(projects.ownerId, users.id)),
      services: db.$count(services, eq(services.ownerId, users.id)),
    })
    .from(users)
    .where(cursor ? lt(users.id, cursor) : undefined)
    .orderBy(desc(users.id))
    .limit(limit + 1)
    .all()

export const getUser = (db: Tx, id: string) => getRow(db, users, eq(users.id, id))

export function findUser(db: Tx, id: string): UserRow {
  const user = getUser(db, id)
  if (!user) throw notFound('user')
  return user
}

export function isAdmin(db: Tx, id: string | null) {
  const user = id === null ? undefined : getUser(db, id)
  return user?.role === 'admin' && user.disabledAt === null
}

type UserChanges = { [Field in keyof UserRow]?: UserRow[Field] | undefined }

/** Undefined leaves a field unchanged. */
export function updateUser(db: Tx, id: string, values: UserChanges): UserRow {
  if (Object.values(values).every((value) => value === undefined)) return findUser(db, id)
  return refuseDuplicate(
    () => db.update(users).set(values).where(eq(users.id, id)).returning().get(),
    { email: 'This e-mail address already has an account. Choose another one.' },
  )
}

export const insertSession = (db: Tx, values: typeof sessions.$inferInsert) =>
  db.insert(sessions).values(values).returning().get()

/** Finds a valid session by its token's hash. Its user has no password hash. */
export const getSession = (db: Tx, tokenHash: string) =>
  liveSession(db).get({ tokenHash, now: Date.now() })

const liveSession = preparedOnce((db: Tx) =>
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

export const isValid = (now: Date | SQLWrapper) =>
  or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, now))

type Login = { token: { id: string } | null; session: { id: string } | null }

/** Null when the API token or session isn't valid. */
export function roleOf(db: Tx, { token, session }: Login) {
  const { ofToken, ofSession } = rolesOf(db)
  const now = Date.now()
  const found = token
    ? ofToken.get({ id: token.id, now })
    : ofSession.get({ id: session?.id ?? '', now })
  return found?.role ?? null
}

const rolesOf = preparedOnce((db: Tx) => {
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
      .where(and(eq(apiTokens.id, id), isValid(now), isNull(users.disabledAt)))
      .prepare(),
  }
})

export const setSessionSeen = (
  db: Tx,
  { id, ...seen }: Pick<SessionRow, 'id' | 'lastSeenAt' | 'expiresAt'>,
) => db.update(sessions).set(seen).where(eq(sessions.id, id)).run()

export const listSessions = (db: Tx, userId: string) =>
  listRows(db, sessions, isLiveOf(userId), desc(sessions.lastSeenAt), desc(sessions.id))

export const pageOfSessions = (db: Tx, { userId, ...page }: { userId: string } & Page) =>
  listPage(db, sessions, isLiveOf(userId), page)

const isLiveOf = (userId: string) =>
  and(eq(sessions.userId, userId), gt(sessions.expiresAt, new Date()))

export const deleteSession = (db: Tx, id: string) =>
  db.delete(sessions).where(eq(sessions.id, id)).run()

/** Someone else's session counts as missing. */
export const deleteOwnSession = (db: Tx, { id, userId }: { id: string; userId: string }) =>
  deleteFound(db, sessions, and(eq(sessions.id, id), eq(sessions.userId, userId)), 'session')

export const deleteOtherSessions = (db: Tx, { id, userId }: { id: string; userId: string }) =>
  db
    .delete(sessions)
    .where(and(eq(sessions.userId, userId), ne(sessions.id, id)))
    .run()

/** With the logins of computers that wouldn't have their token until they ask again. */
export function deleteSessionsOf(db: Tx, userId: string) {
  db.delete(sessions).where(eq(sessions.userId, userId)).run()
  db.delete(deviceLogins).where(eq(deviceLogins.userId, userId)).run()
}

export const deleteExpiredSessions = (db: Tx) =>
  db.delete(sessions).where(lte(sessions.expiresAt, new Date())).run()

/** Ends the user's oldest sessions; the `keep` newest stay. */
export function deleteStaleSessions(db: Tx, { userId, keep }: { userId: string; keep: number }) {
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

/** In milliseconds: a clock may be set back this much before stored times are reset. */
export const tolerance = 24 * 3_600_000

/**
 * Rows created in the future count as created now, so that nothing stays valid for years after the clock was
 * ahead for a while.
 */
export function resetFutureTimes(db: Tx) {
  const now = new Date()
  const from = new Date(now.getTime() + tolerance)
  for (const table of [sessions, apiTokens, deviceLogins, invites, passwordResets])
    db.update(table)
      .set({
        expiresAt: sql`${table.expiresAt} - ${table.createdAt} + ${now.getTime()}`,
        createdAt: now,
      })
      .where(gt(table.createdAt, from))
      .run()
}
