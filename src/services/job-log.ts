import type { Db, LogDb } from '../db/index.ts'
import type { Job } from '../jobs/store.ts'
import { getJob, getJobOf } from '../jobs/store.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { deleteSome, listJobLogs } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { getService } from './store.ts'

export type JobLogDeps = { db: Db; logDb: LogDb; logs: Logs; masks: Masks }

/** Runs a job of an instance, and logs it, replacing the log of the previous job. */
export async function withLog(
  deps: JobLogDeps,
  { id: logId, kind, subjectId: sourceId }: Job,
  work: (log: LogWriter) => Promise<void>,
) {
  for (const log of listJobLogs(deps.logDb, sourceId))
    if (log.logId !== logId) while (deleteSome(deps.logDb, log));
  const log = new LogWriter(deps, { sourceId, logId })
  log.mask = await deps.masks.of(sourceId)
  log.write(`The ${kind} began.`)
  try {
    await work(log)
  } finally {
    const service = getService(deps.db, sourceId)
    if (service?.errorMessage) log.write(`${service.errorMessage} ${service.errorHint ?? ''}`)
    if (service) log.write(`The service is ${service.status}.`)
    log.end()
    // once its row is gone, so that who comes in between waits for nothing
    setImmediate(() => {
      if (!getJob(deps.db, logId)) deps.logs.publish(logId, { status: 'ended' })
    })
  }
}

/** Whether the job that a log is of has ended, for those who follow it. */
export const statusesOf = ({ db }: { db: Db }, { logId }: LogKey) => ({
  now: () => (getJob(db, logId) ? 'running' : 'ended'),
  isEnd: (status: string) => status === 'ended',
})

/**
 * The log of the job that waits or runs for an instance, also before its first line, else of the last
 * one; empty where there was none.
 */
export function lastLogOf({ db, logDb }: { db: Db; logDb: LogDb }, { id }: { id: string }): LogKey {
  const job = getJobOf(db, id)
  if (job) return { sourceId: id, logId: job.id }
  return listJobLogs(logDb, id)[0] ?? { sourceId: id, logId: 'none' }
}
