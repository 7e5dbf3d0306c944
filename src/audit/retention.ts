import { repeat } from '../platform/pause.ts'
import { deleteEventsBefore, getOldestEventTime } from './store.ts'
import type { Store } from './store.ts'

const day = 24 * 3_600_000

/** Milliseconds that an event is kept: a year, and then time to look back at it. */
const kept = 400 * day

/** Milliseconds of events that one run takes at most: a clock that is wrong for a day costs no more. */
const atOnce = day

/** Milliseconds between two runs. */
const interval = 3_600_000

export function dropOldEvents(db: Store) {
  const oldest = getOldestEventTime(db)
  if (!oldest) return
  deleteEventsBefore(db, new Date(Math.min(Date.now() - kept, oldest.getTime() + atOnce)))
}

/** Drops what is old now and every hour, until the signal. */
export const keepEvents = (db: Store, { signal }: { signal: AbortSignal }) =>
  repeat(interval, () => dropOldEvents(db), { signal, failed: 'old events were not removed' })
