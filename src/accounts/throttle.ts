import { and, desc, eq, gt, lte } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { loginFailures } from '../db/schema.ts'
import { AppError } from '../errors.ts'
import { networkOf } from '../web/client-address.ts'
import type { Store } from './store.ts'

/** Milliseconds in which failures count. */
const window = 15 * 60_000

const perEmail = 5
const perAddress = 20

/**
 * Counts a try as a failure before it is checked, so that a thousand at once are no way around the
 * limits; success takes it back with `forgiveFailures`. Throws once there were too many.
 */
export function countTry(db: Db, { email, address }: { email: string; address: string }) {
  const network = networkOf(address)
  db.transaction(
    (tx) => {
      tx.delete(loginFailures).where(lte(loginFailures.createdAt, windowStart())).run()
      refuseAfter(perEmail, tx, eq(loginFailures.email, email))
      refuseAfter(perAddress, tx, eq(loginFailures.address, network))
      tx.insert(loginFailures).values({ email, address: network }).run()
    },
    { behavior: 'immediate' },
  )
}

export const forgiveFailures = (db: Store, email: string) =>
  db.delete(loginFailures).where(eq(loginFailures.email, email)).run()

/** The newest failure but `limit - 1` is the one that has to grow old before another try. */
function refuseAfter(limit: number, db: Store, whose: SQL) {
  const failure = db
    .select()
    .from(loginFailures)
    .where(and(whose, gt(loginFailures.createdAt, windowStart())))
    .orderBy(desc(loginFailures.createdAt))
    .limit(1)
    .offset(limit - 1)
    .get()
  if (!failure) return
  const retryAfter = (failure.createdAt.getTime() + window - Date.now()) / 1000
  const minutes = Math.ceil(retryAfter / 60)
  throw new AppError(
    'too_many',
    `Too many tries have failed. Wait ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}, then try again.`,
    { retryAfter },
  )
}

const windowStart = () => new Date(Date.now() - window)
