import { and, desc, eq, gt, inArray, lte, or } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { loginFailures } from '../db/schema.ts'

export const insertFailure = (db: Tx, values: typeof loginFailures.$inferInsert) =>
  db.insert(loginFailures).values(values).returning({ id: loginFailures.id }).get().id

export const forgetFailures = (db: Tx, ids: string[]) =>
  db.delete(loginFailures).where(inArray(loginFailures.id, ids)).run()

/** With a network, only the failures from there. */
export const forgiveFailures = (db: Tx, of: LoginSubject & { email: string }) =>
  db.delete(loginFailures).where(isOf(of)).run()

type LoginSubject = { email?: string; address?: string }

const isOf = ({ email, address }: LoginSubject) =>
  and(
    email === undefined ? undefined : eq(loginFailures.email, email),
    address === undefined ? undefined : eq(loginFailures.address, address),
  )

/** Includes times in the future, from before the clock was set back: no one has to wait for them. */
export const forgetOutside = (db: Tx, { after, until }: { after: Date; until: Date }) =>
  db
    .delete(loginFailures)
    .where(or(lte(loginFailures.createdAt, after), gt(loginFailures.createdAt, until)))
    .run()

export const timeOfFailure = (
  db: Tx,
  { nth, after, ...of }: LoginSubject & { nth: number; after: Date },
) =>
  db
    .select({ at: loginFailures.createdAt })
    .from(loginFailures)
    .where(and(isOf(of), gt(loginFailures.createdAt, after)))
    .orderBy(desc(loginFailures.createdAt))
    .limit(1)
    .offset(nth - 1)
    .get()?.at
