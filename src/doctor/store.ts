import type { Database } from 'bun:sqlite'
import { max } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { auditEvents, deployments, sessions, users } from '../db/schema.ts'

/** When the newest row with a timestamp was written; null in a new database. */
export function newestTime(db: Db): Date | null {
  const columns = [
    [auditEvents, auditEvents.createdAt],
    [deployments, deployments.createdAt],
    [sessions, sessions.lastSeenAt],
    [users, users.createdAt],
  ] as const
  const times = columns.flatMap(
    ([table, time]) =>
      db
        .select({ at: max(time) })
        .from(table)
        .get()?.at ?? [],
  )
  return times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null
}

/** Bytes of the log lines that were stored since a time and are still there, and when the oldest of all is from. */
export const readLogGrowth = (logs: Database, since: number) =>
  logs
    .query<{ bytes: number; oldest: number | null }, [number]>(
      `SELECT coalesce(sum(length(data)), 0) AS bytes,
         (SELECT min(last_time) FROM output_blocks) AS oldest
       FROM output_blocks WHERE last_time >= ?`,
    )
    .get(since)!
