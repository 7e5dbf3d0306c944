import { desc, eq } from 'drizzle-orm'
import type { Db } from '../../db/index.ts'
import { getRow } from '../../db/queries.ts'
import { auditEvents, cleanUpSchedule } from '../../db/schema.ts'
import type { PruneKind } from './kinds.ts'

export type Schedule = Omit<typeof cleanUpSchedule.$inferSelect, 'id' | 'what'> & {
  what: Exclude<PruneKind, 'volumes'>[]
}

const only = 1

const untilSet: Schedule = {
  enabled: false,
  what: ['containers', 'images', 'networks', 'build_cache'],
  hour: 3,
  threshold: 80,
  lastRunAt: null,
  lastOutcome: null,
}

export function getSchedule(db: Db): Schedule {
  const stored = db.select().from(cleanUpSchedule).where(eq(cleanUpSchedule.id, only)).get()
  if (!stored) return untilSet
  const { id: _, what, ...rest } = stored
  return { ...rest, what: what as Schedule['what'] }
}

export function saveSchedule(db: Db, changes: Partial<Schedule>): Schedule {
  const row = { ...getSchedule(db), ...changes, id: only }
  db.insert(cleanUpSchedule)
    .values(row)
    .onConflictDoUpdate({ target: cleanUpSchedule.id, set: row })
    .run()
  return getSchedule(db)
}

/** Null if never changed. An hour before the change isn't due that day. */
export const scheduleSetAt = (db: Db) =>
  getRow(db, auditEvents, eq(auditEvents.action, 'clean_up.scheduled'), desc(auditEvents.id))
    ?.createdAt ?? null
