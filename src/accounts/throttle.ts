import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { networkOf } from '../web/client-address.ts'
import {
  forgetFailure,
  forgetOutside,
  forgiveFailures,
  insertFailure,
  timeOfFailure,
} from './failure-store.ts'
import { isPassword } from './passwords.ts'

/** Milliseconds for which failures count. */
const window = 15 * 60_000

const limits = { email: 5, address: 20 }

type Try = Record<'email' | 'address', string>

/**
 * Whether the password matches the hash. Until it does, the attempt counts as a failure, unless it was
 * refused without a comparison.
 */
export async function tryPassword(
  db: Db,
  { password, hash, ...counted }: Try & { password: string; hash: string | null },
) {
  const id = countTry(db, counted)
  const fits = await isPassword(password, hash).catch((error) => {
    forgetFailure(db, id)
    throw error
  })
  if (fits) forgiveFailures(db, counted.email)
  return fits
}

/**
 * Counts an attempt as a failure before it is checked, so that parallel attempts can't bypass
 * the limits; success clears it with `forgiveFailures`. Throws once there were too many.
 */
export function countTry(db: Db, { email, address }: Try) {
  const keys = { email, address: networkOf(address) }
  const now = Date.now()
  const after = new Date(now - window)
  return db.transaction(
    (tx) => {
      forgetOutside(tx, { after, until: new Date(now) })
      for (const by of ['email', 'address'] as const) {
        const oldest = timeOfFailure(tx, { by, value: keys[by], nth: limits[by], after })
        if (oldest) throw tooMany(oldest.getTime() + window - now)
      }
      return insertFailure(tx, keys)
    },
    { behavior: 'immediate' },
  )
}

function tooMany(milliseconds: number) {
  const minutes = Math.ceil(milliseconds / 60_000)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('too_many', `Too many failed attempts. Wait ${wait}, then try again.`, {
    retryAfter: milliseconds / 1000,
  })
}
