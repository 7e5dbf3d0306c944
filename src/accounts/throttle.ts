import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { networkOf } from '../web/client-address.ts'
import { deleteFailuresOf, deleteFailuresOutside, getFailureTime, insertFailure } from './store.ts'

/** Milliseconds in which failures count. */
const window = 15 * 60_000

const limits = { email: 5, address: 20 }

/**
 * Counts a try as a failure before it is checked, so that a thousand at once are no way around the
 * limits; success takes it back with `forgiveFailures`. Throws once there were too many.
 */
export function countTry(db: Db, { email, address }: { email: string; address: string }) {
  const keys = { email, address: networkOf(address) }
  const now = Date.now()
  const after = new Date(now - window)
  db.transaction(
    (tx) => {
      deleteFailuresOutside(tx, { after, until: new Date(now) })
      for (const by of ['email', 'address'] as const) {
        const oldest = getFailureTime(tx, { by, value: keys[by], nth: limits[by], after })
        if (oldest) throw tooMany(oldest.getTime() + window - now)
      }
      insertFailure(tx, keys)
    },
    { behavior: 'immediate' },
  )
}

/** Once somebody has shown who they are, what came before was their own mistyping. */
export const forgiveFailures = (db: Db, email: string) => deleteFailuresOf(db, email)

function tooMany(milliseconds: number) {
  const minutes = Math.ceil(milliseconds / 60_000)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('too_many', `Too many tries have failed. Wait ${wait}, then try again.`, {
    retryAfter: milliseconds / 1000,
  })
}
