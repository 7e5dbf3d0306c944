import { and, desc, eq, gt, lte, or } from 'drizzle-orm'
import { loginFailures } from '../db/schema.ts'
import type { Store } from './store.ts'

export const insertFailure = (db: Store, values: typeof loginFailures.$inferInsert) =>
  db.insert(loginFailures).values(values).returning({ id: loginFailures.id }).get().id

export const forgetFailure = (db: Store, id: string) =>
  db.delete(loginFailures).where(eq(loginFailures.id, id)).run()

/** After a successful login, earlier failures were typos. */
export const forgiveFailures = (db: Store, email: string) =>
  db.delete(loginFailures).where(eq(loginFailures.email, email)).run()

/** Also those in the future, when the clock was set back: no one has to wait for them. */
export const forgetOutside = (db: Store, { after, until }: { after: Date; until: Date }) =>
  db
    .delete(loginFailures)
    .where(or(lte(loginFailures.createdAt, after), gt(loginFailures.createdAt, until)))
    .run()

/** The time of the nth newest failure of an e-mail or an address after the given time. */
export const timeOfFailure = (
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
