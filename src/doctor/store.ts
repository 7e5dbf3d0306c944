import { max } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { auditEvents, deployments, sessions, users } from '../db/schema.ts'

/** When the newest row that tells was written; null in a new database. */
export function newestTime(db: Db): Date | null {
  const times = [
    db
      .select({ at: max(auditEvents.createdAt) })
      .from(auditEvents)
      .get(),
    db
      .select({ at: max(deployments.createdAt) })
      .from(deployments)
      .get(),
    db
      .select({ at: max(sessions.lastSeenAt) })
      .from(sessions)
      .get(),
    db
      .select({ at: max(users.createdAt) })
      .from(users)
      .get(),
  ].flatMap((row) => row?.at ?? [])
  return times.sort((a, b) => b.getTime() - a.getTime())[0] ?? null
}
