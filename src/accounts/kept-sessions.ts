import { changesOf } from '../db/changes.ts'
import type { Db } from '../db/index.ts'
import { getSession } from './store.ts'

/** Sessions kept at most. */
const most = 1000

/** Finds live sessions by the hash of their token; each is read again once anything in the database changed. */
export function keptSessions(db: Db) {
  const kept = new Map<string, NonNullable<ReturnType<typeof getSession>>>()
  let keptAt = ''

  return function findSession(tokenHash: string) {
    const changes = changesOf(db)
    if (changes !== keptAt || kept.size > most) kept.clear()
    keptAt = changes
    const known = kept.get(tokenHash)
    if (known && known.session.expiresAt.getTime() > Date.now()) return known
    const found = getSession(db, tokenHash)
    if (found) kept.set(tokenHash, found)
    return found
  }
}
