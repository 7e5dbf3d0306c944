import type { Db, LogDb } from '../db/index.ts'
import { countUnsent, getCursor, getLast, listDrains, ofTraces } from './store.ts'
import type { Drain, DrainCursor } from './store.ts'

/** How far a drain is, and why not further. */
export function progressOf(logDb: LogDb, { id, environmentId }: Drain) {
  const cursor = getCursor(logDb, id)
  const last = cursor ? getLast(logDb, { sourceId: environmentId, logId: '' }) : 0
  return { ...outcomeOf(cursor), waiting: Math.max(0, last - (cursor?.sequence ?? 0)) }
}

/** Null where none are sent. */
export const progressOfTraces = (db: Db, logDb: LogDb, { id, traces }: Drain) =>
  traces ? { ...outcomeOf(getCursor(logDb, ofTraces(id))), waiting: countUnsent(db, id) } : null

function outcomeOf(cursor: DrainCursor | undefined) {
  if (!cursor) return { sent: 0, dropped: 0, sentAt: null, problem: null }
  const { sent, dropped, sentAt, error, hint, failedAt } = cursor
  return {
    ...{ sent, dropped },
    sentAt: sentAt === null ? null : new Date(sentAt),
    problem: error === null ? null : { message: error, hint: hint ?? '', at: new Date(failedAt!) },
  }
}

/** Of all drains of these environments. */
export const listProgress = ({ db, logDb }: { db: Db; logDb: LogDb }, environmentIds: string[]) =>
  listDrains(db, environmentIds).map((drain) => ({
    ...{ environmentId: drain.environmentId, name: drain.name },
    ...progressOf(logDb, drain),
  }))
