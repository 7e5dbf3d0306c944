import { gt, sql } from 'drizzle-orm'
import { apiTokens, invites, sessions } from '../db/schema.ts'
import type { Store } from './store.ts'

/** Milliseconds that a clock may be put back without anything to mend. */
export const tolerance = 24 * 3_600_000

/**
 * What was made at a time to come counts as made now: a clock that ran ahead for a while leaves
 * nothing behind that is good for years.
 */
export function endTheFuture(db: Store) {
  const now = new Date()
  const from = new Date(now.getTime() + tolerance)
  for (const table of [sessions, apiTokens, invites])
    db.update(table)
      .set({
        expiresAt: sql`${table.expiresAt} - ${table.createdAt} + ${now.getTime()}`,
        createdAt: now,
      })
      .where(gt(table.createdAt, from))
      .run()
}
