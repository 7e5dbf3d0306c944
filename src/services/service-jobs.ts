import type { Db } from '../db/index.ts'
import { isEngineAway, retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { cancelled, stopping } from '../jobs/jobs.ts'
import type { GivenUp, Handler, Jobs, Work } from '../jobs/jobs.ts'
import { hasJob, insertJob, listJobIds, requeueJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import { openServiceSecrets } from '../logs/secret-store.ts'
import { masking } from '../logs/mask.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { explain } from '../runtime/explain.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { removeFromEngine, removeUnused, volumesOf } from '../runtime/remove.ts'
import { restartLive } from '../runtime/restart.ts'
import { isWanted } from '../runtime/store.ts'
import { untilEngineResponds } from '../runtime/undo.ts'
import { changeService, forgetChange, restartService, stopService } from './apply-definition.ts'
import type { Doing } from './apply-definition.ts'
import { componentsOf } from './definition.ts'
import { firstStartValues } from './first-start.ts'
import { withLog } from './job-log.ts'
import type { JobLogDeps } from './job-log.ts'
import { observe, stateOf } from './observe.ts'
import { PullProgress } from './progress.ts'
import { serviceJobs, settle, workloadOf } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { getService } from './store.ts'
import type { Service } from './store.ts'
import { definitionOf, unsealDefinition } from './stored-definition.ts'

type Kind = (typeof serviceJobs)[number]
type JobDeps = ServiceDeps & JobLogDeps & { jobs: Jobs; pulls: Map<string, PullProgress> }

/** Throws `conflict` while there is another job. A change has its definition as input, encrypted. */
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

/** Resolves when the job has cleaned up. */
export function cancelServiceJobs({ db, jobs }: { db: Db; jobs: Jobs }, service: Service) {
  const ids = listJobIds(db, { subjectIds: [service.id] })
  if (ids.length === 0)
    throw new AppError(
      'conflict',
      `${service.name} has no running job, so there is nothing to cancel.`,
    )
  return jobs.cancel(ids)
}

/** Runs starts, changes, restarts and stops of instances. */
export const serviceHandler = (deps: JobDeps): Handler => ({
  run: (work) => runJob(deps, work),
  giveUp: (job, end, shutdown) => giveUp(deps, job, { ...end, shutdown }),
})

const verbs: Record<Kind, (deps: ServiceDeps, doing: Doing) => Promise<void>> = {
  start: restartService,
  change: changeService,
  restart: restartService,
  stop: stopService,
}

async function runJob(deps: JobDeps, work: Work) {
  const { job } = work
  const id = job.subjectId
  const service = getService(deps.db, id)
  if (!service) return
  const progress = new PullProgress(() => deps.changes.touch(id))
  deps.pulls.set(id, progress)
  try {
    await withLog(deps, job, (log) => tryJob(deps, { service, work, progress, log }))
  } finally {
    deps.pulls.delete(id)
  }
}

async function tryJob(deps: JobDeps, doing: Doing) {
  const { service, work } = doing
  const { job, signal, undo } = work
  const { id } = service
  let volumes: string[] | undefined
  try {
    volumes = await volumesOf(deps, { serviceId: id })
    await reconcile(deps, workloadOf(service), { orphans: true, signal })
    await verbs[job.kind as Kind](deps, doing)
  } catch (error) {
    if (signal.reason === stopping) return void requeueJob(deps.db, job.id)
    const why = signal.reason === cancelled ? wasCancelled : explain(error, startFailed)
    if (why.code === 'internal') report(`a service did not ${job.kind}`, error, { service: id })
    await fail(deps, { service, job, why, volumes, signal: undo })
  }
  // Events during the job were ignored, so the state is observed now.
  const options = {
    signal: undo,
    failed: 'a service could not be observed',
    fields: { service: id },
  }
  await retryWhileEngineDown(deps.docker, options, () =>
    observe(deps, id, { orphans: false, signal: undo }),
  )
}

const startFailed = { subject: 'service', what: 'Start failed' } as const

type Failed = {
  service: Service
  job: Job
  why: Failure
  /** The volumes that existed before. */
  volumes?: string[] | undefined
  signal: AbortSignal
}

/**
 * Ends a failed job. If the instance has no containers, only volumes that existed before the job stay;
 * otherwise the previous containers run as before. While the engine is unreachable this is unknown: the job
 * ends once it responds.
 */
async function fail(deps: ServiceDeps, { service, job, why, volumes, signal }: Failed) {
  const { id } = service
  const isChange = job.kind === 'change'
  const mask = maskOf(deps, id)
  const undone = isChange ? 'The change was undone. ' : ''
  const error = {
    errorStep: getService(deps.db, id)?.status ?? null,
    errorCode: why.code,
    errorMessage: undone + mask(why.message),
    errorHint: mask(why.hint),
  }
  const store = isChange
    ? await forgetChange(deps, service, job.input!).catch(() => undefined)
    : undefined
  let status: Service['status'] = 'failed'
  try {
    await untilEngineResponds({ docker: deps.docker, shutdown: signal }, async () => {
      const seen = await settleContainers(deps, { service, job, signal })
      if (seen.some(({ container }) => container)) status = stateOf(seen, service.status)
      else await removeLeft(deps, id, volumes)
    })
  } catch (error) {
    if (signal.aborted) return // it is being deleted, or the next process resumes it
    report('a failed start could not be cleaned up', error, { service: id })
    if (job.kind !== 'start') status = 'unhealthy' // until it can be observed
  }
  settle(deps, { job, store }, status, error)
}

/** Error messages of the engine can quote the request, including secrets. */
function maskOf(deps: ServiceDeps, id: string) {
  try {
    return masking(openServiceSecrets(deps, id))
  } catch {
    return (text: string) => text // values that can't be decrypted were never sent to the engine
  }
}

/** After a change that was undone, waits until the previous containers run again. */
async function settleContainers(
  deps: ServiceDeps,
  { service, job, signal }: Pick<Failed, 'service' | 'job' | 'signal'>,
) {
  const workload = workloadOf(service)
  const observed = async () => (await reconcile(deps, workload, { orphans: true, signal })) ?? []
  const seen = await observed()
  if (job.kind !== 'change' || !seen.some(({ instance }) => isWanted(instance))) return seen
  const to = await definitionOf(deps, service)
  const from = await unsealDefinition(deps, service, job.input!)
  const components = componentsOf(deps, to)
  const hooks = { passed: firstStartValues(deps, { from, to }) }
  await restartLive(deps, { workload, components, hooks, signal, stops: false }).catch((error) =>
    signal.aborted || isEngineAway(error) ? Promise.reject(error) : false,
  )
  return observed()
}

async function removeLeft(deps: ServiceDeps, serviceId: string, before: string[] | undefined) {
  await removeFromEngine(deps, { kind: 'service', serviceId, volumes: false })
  for (const id of before ? await volumesOf(deps, { serviceId }) : [])
    if (!before!.includes(id)) await removeUnused(deps.docker, { kind: 'volumes', id })
}

async function giveUp(
  deps: JobDeps,
  job: Job,
  { why, shutdown: signal }: GivenUp & { shutdown: AbortSignal },
) {
  const service = getService(deps.db, job.subjectId)
  if (!service) return
  await fail(deps, { service, job, why: reasons(service)[why], signal })
  signal.throwIfAborted() // the next process does what is left
}

const wasCancelled = new Failure(
  'cancelled',
  'It was cancelled.',
  'Start it again when you need it.',
)

const reasons = ({ status }: Service) => ({
  cancelled: wasCancelled,
  interrupted: new Failure(
    'interrupted',
    `Davit crashed twice while the service was ${status}.`,
    'Check the memory of the server, then start the service again.',
  ),
  broken: new Failure(
    'internal',
    'Something went wrong inside Davit.',
    'Davit’s log has the details. Trying again can help.',
  ),
})
