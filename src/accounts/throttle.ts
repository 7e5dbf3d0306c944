import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { networkOf } from '../web/client-address.ts'
import {
  forgetFailures,
  forgetOutside,
  forgiveFailures,
  insertFailure,
  timeOfFailure,
} from './failure-store.ts'
import { isPassword } from './passwords.ts'

/** In milliseconds: the time for which failures count. */
const window = 15 * 60_000

/** Maximums: of an e-mail from one network, of an e-mail in total, of a network, and of a known browser. */
const limits = { own: 5, email: 100, network: 20, browser: 5 }

type Try = {
  email: string
  address: string
  /** Known from an earlier login of this user. It may try even after others have failed. */
  browser?: string | null
  /** False when strangers can't try: then the limit for one network applies to the e-mail in total. */
  isLogin?: boolean
}

/**
 * True when the password matches the hash. Otherwise the attempt counts as a failure, unless it was refused
 * without a comparison.
 */
export async function tryPassword(
  db: Db,
  { password, hash, ...counted }: Try & { password: string; hash: string | null },
) {
  const tried = countTry(db, counted)
  const fits = await isPassword(password, hash).catch((error) => {
    tried.forget()
    throw error
  })
  if (fits) tried.forgive()
  return fits
}

/**
 * Counts an attempt as a failure before it is checked, so that parallel attempts can't bypass the limits.
 * `forgive` clears it and earlier ones after a success. Throws after too many.
 */
export function countTry(db: Db, { email, address, browser, isLogin = true }: Try) {
  const network = networkOf(address)
  const now = Date.now()
  const after = new Date(now - window)
  const counted = browser
    ? [{ email: `browser ${browser}`, nth: limits.browser }]
    : [
        { email, address: network, nth: limits.own },
        { email, nth: isLogin ? limits.email : limits.own },
        { address: network, nth: limits.network },
      ]
  // A known browser counts for its network too, which must not have more attempts without its cookie.
  const rows = [{ email, address: network }]
  if (browser) rows.push({ email: `browser ${browser}`, address: '' })
  const ids = asWriter(db, (tx) => {
    forgetOutside(tx, { after, until: new Date(now) })
    for (const failures of counted) {
      const oldest = timeOfFailure(tx, { ...failures, after })
      if (oldest) throw tooMany(oldest.getTime() + window - now)
    }
    return rows.map((row) => insertFailure(tx, row))
  })
  return {
    forget: () => forgetFailures(db, ids),
    /** After a success, the failures from here were typos; those from elsewhere weren't. */
    forgive: () => rows.forEach((row) => forgiveFailures(db, row)),
  }
}

function tooMany(milliseconds: number) {
  const minutes = Math.ceil(milliseconds / 60_000)
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
  return new AppError('too_many', `Too many failed attempts. Wait ${wait}, then try again.`, {
    retryAfter: milliseconds / 1000,
  })
}
