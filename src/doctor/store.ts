import type { Database } from 'bun:sqlite'
import { max } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { auditEvents, deployments, sessions, users } from '../db/schema.ts'

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

/** Bytes of stored log lines since a time, and the time of the oldest stored line. */
export const readLogGrowth = (logs: Database, since: number) =>
  logs
    .query<{ bytes: number; oldest: number | null }, [number]>(
      `SELECT coalesce(sum(length(data)), 0) AS bytes,
         (SELECT min(last_time) FROM output_blocks) AS oldest
       FROM output_blocks WHERE last_time >= ?`,
    )
    .get(since)!
