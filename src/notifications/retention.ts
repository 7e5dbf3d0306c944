import type { Db } from '../db/index.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { deleteOldEvents } from './store.ts'

const day = 24 * 3_600_000

/** Milliseconds for which events are kept, with their deliveries. */
const kept = 90 * day

/** Events of one user, or of the server; the oldest go first. */
const maxPerRun = 20_000

/** Events that one run deletes at most for their age, which limits the damage of a wrong clock. */
const atOnce = 1000

/** Milliseconds between two runs. */
const interval = 3_600_000

export const dropOldNotices = (db: Db, now = Date.now()) =>
  deleteOldEvents(db, { before: new Date(now - kept), most: maxPerRun, atOnce })

export const keepNotices = (
  { db, scheduler }: { db: Db; scheduler: Scheduler },
  { signal }: { signal: AbortSignal },
) =>
  scheduler.repeat(interval, () => dropOldNotices(db), {
    signal,
    failed: 'old notifications were not removed',
  })
