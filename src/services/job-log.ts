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

/** Runs a job of an instance with a log, which replaces that of the previous job. */
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
    // After its row is deleted, so that a reader who connects in between doesn't wait forever.
    setImmediate(() => {
      if (!getJob(deps.db, logId)) deps.logs.publish(logId, { status: 'ended' })
    })
  }
}

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
