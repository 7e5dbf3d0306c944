import type { Db, LogDb } from '../db/index.ts'
import { getJob, getJobOf } from '../jobs/store.ts'
import { listJobLogs } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'

/** Ends the log for its readers when its job has ended. */
export const statusesOf = ({ db }: { db: Db }, { logId }: LogKey) => ({
  now: () => (getJob(db, logId) ? 'running' : 'ended'),
  isEnd: (status: string) => status === 'ended',
})

/** The log of the queued or running job, even before its first line, else of the last, if any. */
export function lastLogOf({ db, logDb }: { db: Db; logDb: LogDb }, { id }: { id: string }): LogKey {
  const job = getJobOf(db, id)
  if (job) return { sourceId: id, logId: job.id }
  return listJobLogs(logDb, id)[0] ?? { sourceId: id, logId: 'none' }
}
