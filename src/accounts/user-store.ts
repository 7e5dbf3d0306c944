import { and, count, desc, eq, isNull, lt, ne } from 'drizzle-orm'
import { gitSources, projects, users } from '../db/schema.ts'
import { refuseDuplicate } from '../db/unique.ts'
import { notFound } from '../errors.ts'
import type { Page } from '../web/paging.ts'
import type { Store, UserRow } from './store.ts'

/** A page of all users with one row too many, newest first, and how many projects each has. */
export const listUsers = (db: Store, { cursor, limit }: Page) =>
  db
    .select({ user: users, projects: count(projects.id) })
    .from(users)
    .leftJoin(projects, eq(projects.ownerId, users.id))
    .where(cursor ? lt(users.id, cursor) : undefined)
    .groupBy(users.id)
    .orderBy(desc(users.id))
    .limit(limit + 1)
    .all()

export function findUser(db: Store, id: string): UserRow {
  const user = db.select().from(users).where(eq(users.id, id)).get()
  if (!user) throw notFound('user')
  return user
}

type UserChanges = { [Field in keyof UserRow]?: UserRow[Field] | undefined }

/** Changes the fields present; undefined leaves one as it is. */
export function updateUser(db: Store, id: string, values: UserChanges): UserRow {
  if (Object.values(values).every((value) => value === undefined)) return findUser(db, id)
  return refuseDuplicate(
    () => db.update(users).set(values).where(eq(users.id, id)).returning().get(),
    { 'users.email': ['email', 'This e-mail address has an account already. Choose another one.'] },
  )
}

/** Takes everything along that refers to the user, the projects too. */
export const deleteUser = (db: Store, id: string) => db.delete(users).where(eq(users.id, id)).run()

/** Whether somebody else is an admin who can log in. */
export const hasOtherAdmin = (db: Store, id: string) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.role, 'admin'), isNull(users.disabledAt), ne(users.id, id)))
    .limit(1)
    .get() !== undefined

export const listProjectNames = (db: Store, ownerId: string) =>
  db
    .select({ name: projects.name })
    .from(projects)
    .where(eq(projects.ownerId, ownerId))
    .orderBy(projects.name)
    .all()
    .map(({ name }) => name)

/** Gives one user's projects and git sources to another, under a free name where they have that name already. */
export function setOwner(db: Store, { from, to }: { from: string; to: string }) {
  for (const table of [projects, gitSources]) {
    const ownedBy = (id: string) =>
      db.select({ id: table.id, name: table.name }).from(table).where(eq(table.ownerId, id)).all()
    const taken = new Set(ownedBy(to).map(({ name }) => name))
    for (const { id, name } of ownedBy(from)) {
      const free = freeName(name, taken)
      taken.add(free)
      db.update(table).set({ ownerId: to, name: free }).where(eq(table.id, id)).run()
    }
  }
}

function freeName(name: string, taken: Set<string>) {
  for (let number = 1; ; number++) {
    const suffix = number === 1 ? '' : ` (${number})`
    const candidate = name.slice(0, 60 - suffix.length) + suffix
    if (!taken.has(candidate)) return candidate
  }
}
