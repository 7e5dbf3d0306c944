import { max } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { auditEvents, deployments, sessions, users } from '../db/schema.ts'

/** When the newest row that tells was written; null in a new database. */
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
