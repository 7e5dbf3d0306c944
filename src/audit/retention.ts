import type { Scheduler } from '../platform/scheduler.ts'
import type { Tx } from '../db/index.ts'
import { deleteEventsBefore, getOldestEventTime } from './store.ts'

const day = 24 * 3_600_000

/** Milliseconds for which events are kept: a year, and some time to review it. */
const kept = 400 * day

/** Milliseconds of events that one run deletes at most, which limits the damage of a wrong clock. */
const atOnce = day

/** Milliseconds between two runs. */
const interval = 3_600_000

export function dropOldEvents(db: Tx) {
  const oldest = getOldestEventTime(db)
  if (!oldest) return
  deleteEventsBefore(db, new Date(Math.min(Date.now() - kept, oldest.getTime() + atOnce)))
}

export const keepEvents = (
  { db, scheduler }: { db: Tx; scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) =>
  scheduler.repeat(interval, () => dropOldEvents(db), {
    signal,
    failed: 'old events were not removed',
  })
