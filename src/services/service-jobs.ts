import type { Db } from '../db/index.ts'
import { cancelled, stopping } from '../jobs/jobs.ts'
import type { GivenUp, Jobs, Work } from '../jobs/jobs.ts'
import { hasJob, insertJob, listJobIds, putBackJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { openDefinition } from './before.ts'
import { busyStatuses, tell } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { changeService } from './change.ts'
import { withLog } from './job-log.ts'
import type { JobLogDeps } from './job-log.ts'
import { explainStart } from './explain.ts'
import { PullProgress } from './progress.ts'
import { restartService, stopService } from './restart.ts'
import { definitionOf, startService } from './start.ts'
import type { StartOptions } from './start.ts'
import { getService } from './store.ts'
import type { Service } from './store.ts'

export const serviceJobs = ['start', 'change', 'restart', 'stop'] as const

type Kind = (typeof serviceJobs)[number]
type JobDeps = ServiceDeps & JobLogDeps & { jobs: Jobs }

/** Stores a job on an instance; refuses while there is another one. A change has its definition, sealed. */
export function insertServiceJob(
  { db }: { db: Db },
  { id, ownerId }: Service,
  kind: Kind,
  input?: string,
): Job {
  if (hasJob(db, id))
    throw new AppError('conflict', 'This service is being changed. Wait until that has ended.')
  const slot = kind === 'stop' ? null : 'service'
  return insertJob(db, { kind, subjectId: id, ownerId, slot, input })
}

/** Ends what is under way for an instance; resolves when it has cleaned up. */
export function cancelServiceJobs({ db, jobs }: { db: Db; jobs: Jobs }, service: Service) {
  const ids = listJobIds(db, { subjectIds: [service.id] })
  if (ids.length === 0)
    throw new AppError(
      'conflict',
      `Nothing is under way for ${service.name}. There is nothing to cancel.`,
    )
  return jobs.cancel(ids)
}

/** Has starts, changes, restarts and stops of instances done as jobs. */
export function handleServiceJobs(deps: JobDeps) {
  for (const kind of serviceJobs)
    deps.jobs.handle(kind, {
      run: (work) => runJob(deps, work),
      giveUp: (job, end) => giveUp(deps, job, end),
    })
}

async function runJob(deps: JobDeps, { job, signal, undo }: Pick<Work, 'job' | 'signal' | 'undo'>) {
  const { id: jobId, kind, subjectId: id } = job
  const progress = new PullProgress(() => deps.serviceEvents.publish(id, { pulled: true }))
  deps.pulls.set(id, progress)
  const options = { id, progress, signal, undo }
  try {
    const work = () => verbs[kind as Kind](deps, options, job)
    await (kind === 'stop' ? work() : withLog(deps, job, work))
  } finally {
    deps.pulls.delete(id)
  }
  const { status } = getService(deps.db, id) ?? {}
  if (signal.reason === stopping && busyStatuses.some((busy) => busy === status))
    putBackJob(deps.db, jobId)
}

const verbs: Record<
  Kind,
  (deps: ServiceDeps, options: StartOptions & { undo: AbortSignal }, job: Job) => Promise<void>
> = {
  start: startService,
  change: async (deps, options, { input }) => {
    const service = getService(deps.db, options.id)
    if (!service) return
    // one of an earlier version has left its definition in the row
    const definition = input ? openDefinition(deps, service, input) : definitionOf(deps, service)
    await changeService(deps, { ...options, definition })
  },
  restart: restartService,
  stop: stopService,
}

/** A start is taken down and a change undone as if they had failed; containers that were there stay. */
async function giveUp(deps: JobDeps, job: Job, { why }: GivenUp) {
  const service = getService(deps.db, job.subjectId)
  if (!service) return
  const ended = new AbortController()
  ended.abort(why === 'cancelled' ? cancelled : given(service)[why])
  const { signal } = ended
  if (job.kind === 'start' || (job.kind === 'change' && job.attempt > 0))
    return runJob(deps, { job, signal, undo: new AbortController().signal })
  const error = await explainStart(deps, { id: service.id, error: null, signal })
  const isBusy = busyStatuses.some((busy) => busy === service.status)
  tell(deps, service, isBusy ? 'unhealthy' : service.status, error)
}

const given = ({ status }: Service) => ({
  interrupted: new Failure(
    'interrupted',
    `Davit ended twice while the service was ${status}.`,
    'Look at the memory of the server, then start the service again.',
  ),
  broken: new Failure(
    'internal',
    'Something went wrong inside Davit.',
    'Its own log has the details. Trying again can help.',
  ),
})
