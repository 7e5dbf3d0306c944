import type { Db, LogDb } from '../db/index.ts'
import { isEngineAway } from '../docker/failures.ts'
import { retryWhileEngineDown, untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hasJob, insertJob, listJobIds } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Kind } from '../jobs/task.ts'
import { LogWriter } from '../logs/log-writer.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { deleteSome, listJobLogs } from '../logs/store.ts'
import { openServiceSecrets } from '../logs/secret-store.ts'
import { masking, noMask } from '../logs/mask.ts'
import { refuseWithoutBackup } from '../jobs/after-store.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { explain } from '../runtime/explain.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { removeUnused } from '../runtime/act.ts'
import { endMove, settleMove } from '../runtime/moves.ts'
import { pinnedTo, pinTo } from '../runtime/pins.ts'
import { removeFromEngine, volumesOf } from '../runtime/remove.ts'
import { restartLive, startStopped } from '../runtime/restart.ts'
import { isWanted, listLiveInstances } from '../runtime/store.ts'
import {
  changeService,
  forgetChange,
  moveToServer,
  restartService,
  stopService,
} from './apply-definition.ts'
import type { Doing } from './apply-definition.ts'
import { componentsOf } from './definition.ts'
import { firstStartValues } from './first-start.ts'
import { isOutOfSight, isSettled, observe, stateOf } from './observe.ts'
import { PullProgress } from './progress.ts'
import { noError, serviceJobs, settle, workloadOf } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { getService } from './store.ts'
import type { Service } from './store.ts'
import { definitionOf, unsealDefinition } from './stored-definition.ts'

type ServiceJob = (typeof serviceJobs)[number]
type JobDeps = ServiceDeps & {
  logDb: LogDb
  logs: Logs
  masks: Masks
  jobs: Jobs
  pulls: Map<string, PullProgress>
}

/**
 * Throws `conflict` while there is another job. A change has its definition as input, encrypted, and begins once
 * the backup `after` has succeeded.
 */
export function insertServiceJob(
  { db }: { db: Db },
  { id, ownerId }: Service,
  kind: ServiceJob,
  { input, after }: { input?: string; after?: string | null } = {},
): Job {
  if (hasJob(db, id))
    throw new AppError('conflict', 'This service is being changed. Wait until that has ended.')
  return insertJob(db, { kind, subjectId: id, ownerId, slot: slotOf(kind), input, after })
}

/** A move has it for as long as copying takes. */
const slotOf = (kind: ServiceJob) => (kind === 'stop' ? null : kind === 'move' ? 'move' : 'service')

/** Resolves when the job has cleaned up. */
export const cancelServiceJobs = (
  { db, jobs }: { db: Db; jobs: Jobs },
  { service: { id, name }, by }: { service: Service; by: string },
) =>
  jobs.cancelFor(by, listJobIds(db, { subjectIds: [id] }), {
    refusal: () => `${name} has no running job, so there is nothing to cancel.`,
  })

export const serviceKind =
  (deps: JobDeps): Kind =>
  (job) => {
    const id = job.subjectId
    const service = getService(deps.db, id)
    if (!service) return undefined
    const log = new LogWriter(deps, { sourceId: id, logId: job.id })
    let volumes: string[] | undefined
    let isBegun = false
    let wasUp = false
    const begins = () => void (wasUp = listLiveInstances(deps.db, id).some(isWanted))
    return {
      log,
      mask: () => maskOf(deps, id),
      doing: `the service was ${service.status}`,
      again: 'start the service again',
      async run(work) {
        if (job.after) refuseWithoutBackup(deps.db, job.after)
        isBegun = true
        const progress = new PullProgress(() => deps.changes.touch(id))
        deps.pulls.set(id, progress)
        try {
          await begin(deps, job, log)
          volumes = await volumesOf(deps, { serviceId: id })
          await reconcile(deps, workloadOf(service), { orphans: true, signal: work.signal })
          await verbs[job.kind as ServiceJob](deps, { service, work, progress, log, begins })
        } finally {
          deps.pulls.delete(id)
        }
      },
      explain: (error) => explain(error, { subject: 'service', what: 'Start failed' }),
      async end(end, signal) {
        const why = end.status === 'cancelled' ? wasCancelled : null
        const failure = end.status === 'failed' ? end.failure : why
        // what ran before a restart runs again
        const isBack = why ? wasUp : !isBegun
        if (failure) await fail(deps, { service, job, failure, isBack, volumes, signal })
        if (end.status !== 'done') endMove(deps, job, end)
        const now = getService(deps.db, id)
        if (!now) return undefined
        if (now.errorMessage) log.write(`${now.errorMessage} ${now.errorHint ?? ''}`)
        return { status: 'ended', line: `The service is ${now.status}.` }
      },
      async after(_, signal) {
        // events during the job were ignored
        const options = { signal, failed: 'a service could not be observed' }
        await retryWhileEngineDown(deps.docker, { ...options, fields: { service: id } }, () =>
          observe(deps, id, { orphans: false, signal }),
        )
        await settleMove(deps, { id, kind: 'service' }, { signal })
      },
    }
  }

/** Error messages of the engine can quote the request, including secrets. */
function maskOf(deps: ServiceDeps, id: string) {
  try {
    return masking(openServiceSecrets(deps, id))
  } catch {
    return noMask // values that can't be decrypted were never sent to the engine
  }
}

/** Its log replaces that of the previous job. */
async function begin(
  { logDb, masks }: JobDeps,
  { id: logId, kind, subjectId }: Job,
  log: LogWriter,
) {
  for (const old of listJobLogs(logDb, subjectId))
    if (old.logId !== logId) while (deleteSome(logDb, old));
  log.mask = await masks.of(subjectId)
  log.write(`The ${kind} began.`)
}

const verbs: Record<ServiceJob, (deps: ServiceDeps, doing: Doing) => Promise<void>> = {
  start: restartService,
  change: changeService,
  restart: restartService,
  stop: stopService,
  move: moveToServer,
}

const undoneWords: Partial<Record<Job['kind'], string>> = {
  change: 'The change was undone. ',
  move: 'It stays where it was. ',
}

type Failed = {
  service: Service
  job: Job
  failure: Failure
  /** It starts again what a restart has stopped: crashes may have left it half done, or it was cancelled. */
  isBack: boolean
  volumes?: string[] | undefined
  signal: AbortSignal
}

/**
 * Ends a failed job. If the instance has no containers, only volumes that existed before the job stay;
 * otherwise the previous containers run as before. While the engine is unreachable this is unknown: the job
 * ends once it responds. What a backup holds is observed after that.
 */
async function fail(deps: ServiceDeps, failed: Failed) {
  const { service, job, failure, volumes, signal } = failed
  const { id } = service
  const isChange = job.kind === 'change'
  const undone = undoneWords[job.kind] ?? ''
  const error = {
    errorStep: getService(deps.db, id)?.status ?? null,
    errorCode: failure.code,
    errorMessage: undone + failure.message,
    errorHint: failure.hint,
  }
  const store = isChange
    ? await forgetChange(deps, service, job.input!).catch(() => undefined)
    : undefined
  let status: Service['status'] = 'failed'
  const asKnown = () => {
    if (isSettled(service)) status = service.status
    else if (job.kind !== 'start') status = 'unhealthy'
  }
  try {
    if (isOutOfSight(deps, id)) asKnown()
    else
      await untilEngineResponds({ docker: deps.docker, shutdown: signal }, async () => {
        const seen = await settleContainers(deps, failed)
        if (!seen) asKnown()
        else if (seen.some(({ container }) => container)) status = stateOf(seen, service.status)
        else await removeLeft(deps, id, volumes)
      })
  } catch (error) {
    if (signal.aborted) return // it is being deleted, or the next process resumes it
    report('a failed start could not be cleaned up', error, { service: id })
    if (job.kind !== 'start') status = 'unhealthy' // until it can be observed
  }
  const isRunning = (status as Service['status']) === 'running'
  const isAsBefore = job.kind === 'restart' && failure === wasCancelled && isRunning
  settle(deps, { job, store }, status, isAsBefore ? noError : error)
}

/** After a change that was undone, waits until the previous containers run again. Null while they can't be observed. */
async function settleContainers(deps: ServiceDeps, failed: Failed) {
  const { service, job, isBack, signal } = failed
  const workload = workloadOf(service)
  const observed = () => reconcile(deps, workload, { orphans: true, signal })
  const seen = await observed()
  const isUndone = job.kind === 'change' && seen?.some(({ instance }) => isWanted(instance))
  const isStopped = job.kind === 'move' || (job.kind === 'restart' && isBack)
  if (!isUndone && !isStopped) return seen
  const starting = isUndone ? restartUndone(deps, failed) : startStopped(deps, { workload, signal })
  await starting.catch((error) => {
    if (signal.aborted || isEngineAway(error)) throw error
  })
  return observed()
}

async function restartUndone(deps: ServiceDeps, { service, job, signal }: Failed) {
  const to = await definitionOf(deps, service)
  const from = await unsealDefinition(deps, service, job.input!)
  const workload = workloadOf(service)
  const components = componentsOf(deps, to)
  const hooks = { passed: firstStartValues(deps, { from, to }) }
  await restartLive(deps, { workload, components, hooks, signal, stops: false })
}

async function removeLeft(deps: ServiceDeps, serviceId: string, before: string[] | undefined) {
  await removeFromEngine(deps, { kind: 'service', serviceId, volumes: false })
  const pinned = pinnedTo(deps.db, serviceId)
  if (!before || pinned === null) return
  const docker = deps.engines.of({ serverId: pinned })
  for (const id of await volumesOf(deps, { serviceId }))
    if (!before.includes(id)) await removeUnused(docker, { kind: 'volumes', id })
  if (before.length === 0) pinTo(deps.db, { id: serviceId, kind: 'service' }, null)
}

const wasCancelled = new Failure(
  'cancelled',
  'It was cancelled.',
  'Start it again when you need it.',
)
