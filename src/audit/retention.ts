import { deleteEventsBefore } from './store.ts'
import type { Store } from './store.ts'

/** Milliseconds that an event is kept: a year, and then time to look back at it. */
const kept = 400 * 24 * 3_600_000

export const dropOldEvents = (db: Store) => deleteEventsBefore(db, new Date(Date.now() - kept))
