import type { Db, LogDb } from '../db/index.ts'
import { getCursor, getLast, listDrains } from './store.ts'
import type { Drain } from './store.ts'

/** How far a drain is, and why not further. */
export function progressOf(logDb: LogDb, { id, environmentId }: Drain) {
  const cursor = getCursor(logDb, id)
  if (!cursor) return { sent: 0, waiting: 0, dropped: 0, sentAt: null, problem: null }
  const { sent, dropped, sequence, sentAt, error, hint, failedAt } = cursor
  const last = getLast(logDb, { sourceId: environmentId, logId: '' })
  return {
    ...{ sent, dropped, waiting: Math.max(0, last - sequence) },
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
