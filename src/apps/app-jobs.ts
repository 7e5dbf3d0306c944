import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { observe, tellState } from '../deployments/observe.ts'
import { getCurrent, getJob as getDeployed, updateDeployment } from '../deployments/store.ts'
import { isAppJob, stepOfJob } from '../environments/app-steps.ts'
import type { AppJob, AppStep } from '../environments/app-steps.ts'
import { cancelled, stopping } from '../jobs/jobs.ts'
import type { GivenUp, Handler, Jobs, Work } from '../jobs/jobs.ts'
import { endJob, insertJob, listJobIds, listJobsOf, requeueJob } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import type { Logs } from '../logs/logs.ts'
import { nothingHidden } from '../logs/masks.ts'
import type { Masks } from '../logs/masks.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { openComponents } from '../runtime/component.ts'
import { explain } from '../runtime/explain.ts'
import { routeTraffic } from '../runtime/routing.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { restartLive, stopLive } from '../runtime/restart.ts'
import { getLiveRelease, isWanted, listInstances } from '../runtime/store.ts'
import { untilEngineResponds } from '../runtime/undo.ts'
import type { RuntimeDeps, Workload } from '../runtime/workload.ts'

export type AppJobDeps = RuntimeDeps & { jobs: Jobs; logs: Logs; masks: Masks }

const failed: Record<AppJob, string> = {
  'start-app': 'Start failed',
  'restart-app': 'Restart failed',
  'stop-app': 'Stop failed',
}

/** The running action on a whole environment; null while there are only deployments. */
const stepOf = (db: Db, environmentId: string): AppStep | null =>
  listJobsOf(db, environmentId)
    .map(stepOfJob)
    .find((step) => step !== null) ?? null

/** Throws while there is other work on the environment, or when nothing was deployed. */
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
      `${name} is already ${step}. Wait until that has ended${step === 'stopping' ? '' : ', or stop it'}.`,
    )
  const current = getCurrent(db, id)
  if (!current)
    throw new AppError('conflict', `Nothing has been deployed to ${name} yet. Deploy it first.`)
  if (kind === 'stop-app' && !listInstances(db, id).some(isWanted))
    throw new AppError('conflict', `${name} is already stopped.`)
  return insertJob(db, { id: newId(), kind, subjectId: id, ownerId })
}

/** Cancels a running start or restart, so that a stop doesn't have to wait for it. */
export async function cancelStarts(
  { db, jobs }: { db: Db; jobs: Jobs },
  environment: { id: string; name: string },
) {
  refuseDeploying(db, environment)
  if (stepOf(db, environment.id) !== 'stopping')
    await jobs.cancel(listJobIds(db, { subjectIds: [environment.id] }))
}

/** Cancels a running start, restart or stop. Resolves when it has cleaned up. */
export function cancelAppJobs(
  { db, jobs }: { db: Db; jobs: Jobs },
  { id, name }: { id: string; name: string },
) {
  const ids = listJobsOf(db, id).flatMap((job) => (stepOfJob(job) ? job.id : []))
  if (ids.length === 0)
    throw new AppError(
      'conflict',
      `${name} isn’t being started or stopped, so there is nothing to cancel.`,
    )
  return jobs.cancel(ids)
}

function refuseDeploying(db: Db, { id, name }: { id: string; name: string }) {
  if (listJobsOf(db, id).every(({ kind }) => isAppJob(kind))) return
  throw new AppError(
    'conflict',
    `A deployment to ${name} is running. Wait until it has ended, or cancel it.`,
  )
}

/** Runs starts, restarts and stops of environments as jobs. */
export const appHandler = (deps: AppJobDeps, kind: AppJob): Handler => ({
  run: (work) => runJob(deps, work, kind),
  giveUp: (job, { why }) => giveUp(deps, job, why),
})

async function runJob(deps: AppJobDeps, { job, signal, undo }: Work, kind: AppJob) {
  const id = job.subjectId
  const current = getCurrent(deps.db, id)
  const project = current && getDeployed(deps.db, current.id)?.project
  if (!project) return // its environment was deleted
  const workload: Workload = { id, kind: 'app', ownerId: project.ownerId, projectId: project.id }
  let failure: Failure | null = null
  try {
    // restarted when the engine becomes unreachable: nothing must stay half done
    await untilEngineResponds({ docker: deps.docker, shutdown: signal }, async () => {
      await reconcile(deps, workload, { orphans: false, signal })
      await verbs[kind](deps, workload, signal)
    })
  } catch (error) {
    if (signal.reason === stopping) return void requeueJob(deps.db, job.id)
    if (signal.reason !== cancelled) {
      failure = explain(error, { subject: 'environment', what: failed[kind] })
      if (failure.code === 'internal') report(`an app was not ${kind}`, error, { environment: id })
    }
  }
  // changes meanwhile were left to the job
  const options = {
    signal: undo,
    failed: 'an app could not be observed',
    fields: { environment: id },
  }
  await retryWhileEngineDown(deps.docker, options, () =>
    observe(deps, id, { orphans: false, signal: undo }),
  )
  if (undo.reason === stopping) return void requeueJob(deps.db, job.id) // it may not have been observed
  tellState(deps, id) // if it couldn't be observed, the action is enough
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

/** Its outcome is stored with the live deployment; the state itself comes from the containers. */
async function settle(deps: AppJobDeps, job: Job, failure: Failure | null) {
  const { db, masks } = deps
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
  routeTraffic(deps, { id: job.subjectId, kind: 'app' }) // its page depends on whether it is being started
}

/** A job that was cancelled while queued changed nothing. */
async function giveUp(deps: AppJobDeps, job: Job, why: GivenUp['why']) {
  if (why === 'cancelled') return
  const step = stepOfJob(job) ?? ''
  const failure = {
    interrupted: new Failure(
      'interrupted',
      `Davit crashed twice while ${step} it.`,
      'Check the memory of the server, then try again.',
    ),
    broken: new Failure(
      'internal',
      'Something went wrong inside Davit.',
      'Davit’s log has the details. Trying again can help.',
    ),
  }[why]
  await settle(deps, job, failure)
}
