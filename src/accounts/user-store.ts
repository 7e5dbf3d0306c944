import { desc, eq, lt } from 'drizzle-orm'
import { projects, services, users } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'
import type { Store, UserRow } from './store.ts'

/** A page of all users with one row too many, newest first, and how much each has. */
export const listUsers = (db: Store, { cursor, limit }: Page) =>
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

export const getUser = (db: Store, id: string): UserRow | undefined =>
  db.select().from(users).where(eq(users.id, id)).get()

export function findUser(db: Store, id: string): UserRow {
  const user = getUser(db, id)
  if (!user) throw notFound('user')
  return user
}

/** Whether it is the id of someone who is an admin now, and may log in. */
export function isAdmin(db: Store, id: string | null) {
  const user = id === null ? undefined : getUser(db, id)
  return user?.role === 'admin' && user.disabledAt === null
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
