import { and, desc, eq, gt, lte, or } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { loginFailures } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import { networkOf } from '../web/client-address.ts'
import { isPassword } from './passwords.ts'
import type { Store } from './store.ts'

/** Milliseconds in which failures count. */
const window = 15 * 60_000

const limits = { email: 5, address: 20 }

type Try = { email: string; address: string }

/** Whether the password fits the hash. Until it does, the try counts as a failure. */
export async function tryPassword(
  db: Db,
  { password, hash, ...counted }: Try & { password: string; hash: string | null },
) {
  countTry(db, counted)
  const fits = await isPassword(password, hash)
  if (fits) forgiveFailures(db, counted.email)
  return fits
}

/**
 * Counts a try as a failure before it is checked, so that a thousand at once are no way around the
 * limits; success takes it back with `forgiveFailures`. Throws once there were too many.
 */
export function countTry(db: Db, { email, address }: Try) {
  const keys = { email, address: networkOf(address) }
  const now = Date.now()
  const after = new Date(now - window)
  db.transaction(
    (tx) => {
      forgetOutside(tx, { after, until: new Date(now) })
      for (const by of ['email', 'address'] as const) {
        const oldest = timeOfFailure(tx, { by, value: keys[by], nth: limits[by], after })
        if (oldest) throw tooMany(oldest.getTime() + window - now)
      }
      tx.insert(loginFailures).values(keys).run()
    },
    { behavior: 'immediate' },
  )
}

/** Once somebody has shown who they are, what came before was their own mistyping. */
export const forgiveFailures = (db: Store, email: string) =>
  db.delete(loginFailures).where(eq(loginFailures.email, email)).run()

/** Also those of a time to come, when the clock was put back: nobody waits for that to pass. */
const forgetOutside = (db: Store, { after, until }: { after: Date; until: Date }) =>
  db
    .delete(loginFailures)
    .where(or(lte(loginFailures.createdAt, after), gt(loginFailures.createdAt, until)))
    .run()

/** The time of the nth newest failure of an e-mail or an address after the given time. */
const timeOfFailure = (
  db: Store,
  { by, value, nth, after }: { by: keyof Try; value: string; nth: number; after: Date },
) =>
  db
    .select({ at: loginFailures.createdAt })
    .from(loginFailures)
    .where(and(eq(loginFailures[by], value), gt(loginFailures.createdAt, after)))
    .orderBy(desc(loginFailures.createdAt))
    .limit(1)
    .offset(nth - 1)
    .get()?.at

function tooMany(milliseconds: number) {
  const minutes = Math.ceil(milliseconds / 60_000)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('too_many', `Too many tries have failed. Wait ${wait}, then try again.`, {
    retryAfter: milliseconds / 1000,
  })
}
