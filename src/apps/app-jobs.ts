import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { retryWhileEngineDown, waitForEngine } from '../docker/retry-while-engine-down.ts'
import { observe, tellState } from '../deployments/observe.ts'
import { getCurrent, getJob as getDeployed, updateDeployment } from '../deployments/store.ts'
import { cancelled, stopping } from '../jobs/jobs.ts'
import type { GivenUp, Jobs, Work } from '../jobs/jobs.ts'
import { endJob, getJob, insertJob, listJobIds, putBackJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Logs } from '../logs/logs.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { openComponents } from '../runtime/component.ts'
import { explain } from '../runtime/explain.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { restartLive, stopLive } from '../runtime/restart.ts'
import { getLiveRelease, listInstances } from '../runtime/store.ts'
import { untilEngineResponds } from '../runtime/undo.ts'
import type { RuntimeDeps, Workload } from '../runtime/workload.ts'

export type AppJobDeps = RuntimeDeps & { jobs: Jobs; logs: Logs; masks: Masks }

/** What is done to all processes of an environment at once, with what it is called while it lasts. */
const doing = {
  'start-app': { step: 'starting', failed: 'Start failed' },
  'restart-app': { step: 'restarting', failed: 'Restart failed' },
  'stop-app': { step: 'stopping', failed: 'Stop failed' },
} as const

export type AppJob = keyof typeof doing
export type AppStep = (typeof doing)[AppJob]['step']
const kinds = Object.keys(doing) as AppJob[]
const isAppJob = (kind: Job['kind']): kind is AppJob => kind in doing

/** What a job does to an environment as a whole; null for other work. */
export const stepOfJob = ({ kind }: Job): AppStep | null =>
  isAppJob(kind) ? doing[kind].step : null

/** What is being done to an environment as a whole; null while only deployments are at work. */
export const stepOf = (db: Db, environmentId: string): AppStep | null =>
  jobsOf(db, environmentId)
    .map(stepOfJob)
    .find((step) => step !== null) ?? null

/** Stores a job on an environment; refuses while there is other work on it, and where nothing was deployed. */
export function insertAppJob(
  { db }: { db: Db },
  { id, name, ownerId }: { id: string; name: string; ownerId: string },
  kind: AppJob,
): Job {
  refuseDeploying(db, { id, name })
  const step = stepOf(db, id)
  if (step)
    throw new AppError(
      'conflict',
      `${name} is ${step} already. Wait until that has ended${step === 'stopping' ? '' : ', or stop it'}.`,
    )
  const current = getCurrent(db, id)
  if (!current)
    throw new AppError('conflict', `Nothing was deployed to ${name} yet. Deploy it first.`)
  if (kind === 'stop-app' && listInstances(db, id).every(({ state }) => state !== 'live'))
    throw new AppError('conflict', `${name} doesn’t run: it is stopped already.`)
  return insertJob(db, { id: newId(), kind, subjectId: id, ownerId })
}

/** Ends a start or restart that is under way: who stops an environment need not wait for it. */
export async function cancelStarts(
  { db, jobs }: { db: Db; jobs: Jobs },
  environment: { id: string; name: string },
) {
  refuseDeploying(db, environment)
  if (stepOf(db, environment.id) !== 'stopping')
    await jobs.cancel(listJobIds(db, { subjectIds: [environment.id] }))
}

/** Ends a start, restart or stop that is under way; resolves when it has cleaned up. */
export function cancelAppJobs(
  { db, jobs }: { db: Db; jobs: Jobs },
  { id, name }: { id: string; name: string },
) {
  const ids = jobsOf(db, id).flatMap((job) => (stepOfJob(job) ? job.id : []))
  if (ids.length === 0)
    throw new AppError(
      'conflict',
      `${name} isn’t being started or stopped. There is nothing to cancel.`,
    )
  return jobs.cancel(ids)
}

function refuseDeploying(db: Db, { id, name }: { id: string; name: string }) {
  if (jobsOf(db, id).every(({ kind }) => isAppJob(kind))) return
  throw new AppError(
    'conflict',
    `A deployment to ${name} is under way. Wait until it has ended, or cancel it.`,
  )
}

const jobsOf = (db: Db, environmentId: string) =>
  listJobIds(db, { subjectIds: [environmentId] }).flatMap((id) => getJob(db, id) ?? [])

/** Has starts, restarts and stops of environments done as jobs. */
export function handleAppJobs(deps: AppJobDeps) {
  for (const kind of kinds)
    deps.jobs.handle(kind, {
      run: (work) => runJob(deps, work, kind),
      giveUp: (job, { why }) => giveUp(deps, job, why),
    })
}

/** Takes up what the last process left in the middle, once the engine responds. */
export async function recoverApps(deps: AppJobDeps, { signal }: { signal: AbortSignal }) {
  if (!(await waitForEngine(deps.docker, { signal }))) return
  await deps.jobs.recover(kinds)
  deps.jobs.wake()
}

async function runJob(deps: AppJobDeps, { job, signal, undo }: Work, kind: AppJob) {
  const id = job.subjectId
  const current = getCurrent(deps.db, id)
  const project = current && getDeployed(deps.db, current.id)?.project
  if (!project) return // it was deleted
  const workload: Workload = { id, kind: 'app', ownerId: project.ownerId, projectId: project.id }
  let failure: Failure | null = null
  try {
    // where the engine goes away in the middle, it is begun again: nothing must stay half done
    await untilEngineResponds({ docker: deps.docker, shutdown: signal }, async () => {
      await reconcile(deps, workload, { orphans: false, signal })
      await verbs[kind](deps, workload, signal)
    })
  } catch (error) {
    if (signal.reason === stopping) return void putBackJob(deps.db, job.id)
    if (signal.reason !== cancelled) {
      failure = explain(error, { subject: 'environment', what: doing[kind].failed })
      if (failure.code === 'internal') report(`an app was not ${kind}`, error, { environment: id })
    }
  }
  // what happened meanwhile was left to the job
  const options = { signal: undo, failed: 'an app was not looked at', fields: { environment: id } }
  await retryWhileEngineDown(deps.docker, options, () =>
    observe(deps, id, { orphans: false, signal: undo }),
  )
  if (undo.reason === stopping) return void putBackJob(deps.db, job.id) // it may not have been seen
  tellState(deps, id) // where it could not be looked at, what was done says enough
  await settle(deps, job, failure)
}

const verbs: Record<
  AppJob,
  (deps: AppJobDeps, workload: Workload, signal: AbortSignal) => Promise<void>
> = {
  'start-app': (deps, workload, signal) => start(deps, { workload, signal, stops: false }),
  'restart-app': (deps, workload, signal) => start(deps, { workload, signal, stops: true }),
  'stop-app': (deps, workload, signal) => stopLive(deps, { workload, signal }),
}

async function start(
  deps: AppJobDeps,
  restart: { workload: Workload; signal: AbortSignal; stops: boolean },
) {
  const components = openComponents(deps.secrets, getLiveRelease(deps.db, restart.workload.id))
  if (await restartLive(deps, { ...restart, components })) return
  throw new Failure(
    'container_missing',
    'A container of this environment was removed.',
    'Deploy again: the same image can be used without a build.',
  )
}

/** Its outcome stands with what serves the environment; the state itself says what the containers do. */
async function settle({ db, masks }: AppJobDeps, job: Job, failure: Failure | null) {
  const { mask } = await masks.of(job.subjectId).catch(() => nothingHidden)
  db.transaction(() => {
    const current = getCurrent(db, job.subjectId)
    if (current)
      updateDeployment(db, current.id, {
        errorStep: failure && stepOfJob(job),
        errorCode: failure?.code ?? null,
        errorMessage: failure && mask(failure.message),
        errorHint: failure && mask(failure.hint),
      })
    endJob(db, job.id)
  })
}

/** A job that waited when it was cancelled changed nothing. */
async function giveUp(deps: AppJobDeps, job: Job, why: GivenUp['why']) {
  if (why === 'cancelled') return
  const step = stepOfJob(job) ?? ''
  const failure = {
    interrupted: new Failure(
      'interrupted',
      `Davit ended twice while ${step} it.`,
      'Look at the memory of the server, then try again.',
    ),
    broken: new Failure(
      'internal',
      'Something went wrong inside Davit.',
      'Its own log has the details. Trying again can help.',
    ),
  }[why]
  await settle(deps, job, failure)
}
