import type { Db, LogDb } from '../db/index.ts'
import type { Job } from '../jobs/store.ts'
import { getJob, getJobOf } from '../jobs/store.ts'
import type { Hub } from '../live/hub.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { deleteSome, listJobLogs } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import type { ServiceEvent } from './state.ts'
import type { PullProgress } from './progress.ts'
import { getService } from './store.ts'
import type { ServiceStatus } from './store.ts'

export type JobLogDeps = {
  db: Db
  logDb: LogDb
  logs: Logs
  masks: Masks
  serviceEvents: Hub<ServiceEvent>
  pulls: Map<string, PullProgress>
}

/** What a job does when an instance comes into a state; what it has come to is said at its end. */
const doing: Partial<Record<ServiceStatus, string>> = {
  pulling: 'Checking for the images, and pulling those that are missing.',
  creating: 'Creating the network, the volumes and the containers.',
  starting: 'Starting the containers, and waiting until they are healthy.',
}

/** Does a job of an instance, and keeps a log of it, in the place of that of the job before. */
export async function withLog(
  deps: JobLogDeps,
  { id: logId, kind, subjectId: sourceId }: Job,
  work: () => Promise<void>,
) {
  for (const log of listJobLogs(deps.logDb, sourceId))
    if (log.logId !== logId) while (deleteSome(deps.logDb, log));
  const log = new LogWriter(deps, { sourceId, logId })
  log.mask = await deps.masks.of(sourceId)
  const told = new Set<string>()
  const over = new AbortController()
  const tellOnce = (text: string) => {
    if (!told.has(text)) log.write(text)
    told.add(text)
  }
  const push = (event: ServiceEvent) => {
    if ('status' in event && doing[event.status]) log.write(doing[event.status]!)
    for (const { image, done } of deps.pulls.get(sourceId)?.images ?? [])
      tellOnce(done ? `Pulled ${image}.` : `Pulling ${image}.`)
  }
  deps.serviceEvents.listen(sourceId, over.signal, { push })
  log.write(`The ${kind} began.`)
  try {
    await work()
  } finally {
    over.abort()
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
