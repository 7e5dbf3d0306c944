import type { Db } from '../db/index.ts'
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

/** Milliseconds for which failures count. */
const window = 15 * 60_000

/** Failures of an e-mail from one network, of one from anywhere, of a network, and of a known browser. */
const limits = { own: 5, email: 100, network: 20, browser: 5 }

type Try = {
  email: string
  address: string
  /** Known from an earlier login of this user: it may try although others failed. */
  browser?: string | null
  /** False where strangers can't try: the e-mail then has no more attempts from anywhere than from one network. */
  isLogin?: boolean
}

/**
 * Whether the password matches the hash. Until it does, the attempt counts as a failure, unless it was
 * refused without a comparison.
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
 * Counts an attempt as a failure before it is checked, so that parallel attempts can't bypass
 * the limits; success clears it and earlier ones with `forgive`. Throws once there were too many.
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
  // a known browser counts for its network too, which without its cookie must not have more attempts
  const rows = [{ email, address: network }]
  if (browser) rows.push({ email: `browser ${browser}`, address: '' })
  const ids = db.transaction(
    (tx) => {
      forgetOutside(tx, { after, until: new Date(now) })
      for (const failures of counted) {
        const oldest = timeOfFailure(tx, { ...failures, after })
        if (oldest) throw tooMany(oldest.getTime() + window - now)
      }
      return rows.map((row) => insertFailure(tx, row))
    },
    { behavior: 'immediate' },
  )
  return {
    forget: () => forgetFailures(db, ids),
    /** After a success, earlier failures were typos: those of others, elsewhere, were not. */
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
