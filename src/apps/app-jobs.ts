import type { Db } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { retryWhileEngineDown, untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import type { PipelineDeps } from '../deployments/context.ts'
import { observe, publishStatus } from '../deployments/observe.ts'
import { workloadOf } from '../deployments/steps/deploy.ts'
import { getCurrent, getJob as getDeployed, updateDeployment } from '../deployments/store.ts'
import { appSteps, isAppJob, stepOfJob } from '../environments/app-steps.ts'
import type { AppJob, AppStep } from '../environments/app-steps.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { endJob, insertJob, listJobIds, listJobsOf } from '../jobs/store.ts'
import type { Job } from '../jobs/store.ts'
import { stopping } from '../jobs/task.ts'
import type { End, Kind } from '../jobs/task.ts'
import type { Logs } from '../logs/logs.ts'
import type { Masks } from '../logs/masks.ts'
import { AppError, Failure } from '../platform/errors.ts'
import { openComponents } from '../runtime/component.ts'
import { explain } from '../runtime/explain.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { relocate } from '../runtime/relocate.ts'
import { restartLive, startStopped, stopLive } from '../runtime/restart.ts'
import { getLiveRelease, isWanted, listInstances, listLiveInstances } from '../runtime/store.ts'
import type { Workload } from '../runtime/workload.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'

export type AppJobDeps = RuntimeDeps &
  Pick<PipelineDeps, 'watches'> & { jobs: Jobs; logs: Logs; masks: Masks }

const failed: Record<AppJob, string> = {
  'start-app': 'Start failed',
  'restart-app': 'Restart failed',
  'stop-app': 'Stop failed',
  'relocate-app': 'The move to another server failed',
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
export const cancelAppJobs = (
  { db, jobs }: { db: Db; jobs: Jobs },
  { environment: { id, name }, by }: { environment: { id: string; name: string }; by: string },
) =>
  jobs.cancelFor(
    by,
    listJobsOf(db, id).flatMap((job) => (stepOfJob(job) ? job.id : [])),
    { refusal: () => `${name} isn’t being started or stopped, so there is nothing to cancel.` },
  )

function refuseDeploying(db: Db, { id, name }: { id: string; name: string }) {
  if (listJobsOf(db, id).every(({ kind }) => isAppJob(kind))) return
  throw new AppError(
    'conflict',
    `A deployment to ${name} is running, or a restore. Wait until it has ended, or cancel it.`,
  )
}

export const appKind =
  (deps: AppJobDeps, kind: AppJob): Kind =>
  (job) => {
    const id = job.subjectId
    const current = getCurrent(deps.db, id)
    const found = current && getDeployed(deps.db, current.id)
    if (!found) return undefined
    const workload = workloadOf(found)
    let isBegun = false
    let wasUp = false
    const begins = () => void (wasUp ||= listLiveInstances(deps.db, id).some(isWanted))
    const untilDone = (signal: AbortSignal, failed: string, work: () => Promise<void>) =>
      retryWhileEngineDown(deps.docker, { signal, failed, fields: { environment: id } }, work)
    const observeSoon = (signal: AbortSignal) =>
      untilDone(signal, 'an app could not be observed', () =>
        observe(deps, id, { orphans: false, signal }),
      )
    return {
      mask: async () => (await deps.masks.of(id)).mask,
      doing: `${appSteps[kind]} it`,
      again: 'try again',
      async run({ signal, undo }) {
        isBegun = true
        const watch = { environmentId: id, what: failed[kind], signal }
        await deps.watches.endFor(watch, kind === 'stop-app' ? 'stopped' : 'interrupted')
        try {
          // restarted when the engine becomes unreachable: nothing must stay half done
          await untilEngineResponds({ docker: deps.docker, shutdown: signal }, async () => {
            await reconcile(deps, workload, { orphans: false, signal })
            await act(deps, kind, { workload, signal, begins })
          })
        } finally {
          await observeSoon(undo) // changes meanwhile were left to the job
        }
        if (undo.reason === stopping) throw stopping // it may not have been observed
      },
      explain: (error) => explain(error, { subject: 'environment', what: failed[kind] }),
      async end(end, signal) {
        // crashes may have left it half done, or a user cancelled it; what is cancelled for a stop stays down
        const isHalf =
          end.status === 'failed'
            ? !isBegun
            : end.status === 'cancelled' && end.by !== undefined && wasUp
        const isBack = kind === 'restart-app' && isHalf
        if (isBack)
          await untilDone(signal, 'an app could not be started again', () =>
            startStopped(deps, { workload, signal }),
          )
        if (isBack || !isBegun) {
          await observeSoon(signal)
          if (signal.aborted) return // the next process does it
        }
        if (isBegun) publishStatus(deps, id) // if it couldn't be observed, the action is enough
        if (isBegun || end.status === 'failed') storeEnd(deps, job, { kind, end })
      },
    }
  }

async function act(
  deps: AppJobDeps,
  kind: AppJob,
  { workload, signal, begins }: { workload: Workload; signal: AbortSignal; begins: () => void },
) {
  if (kind === 'stop-app') return stopLive(deps, { workload, signal })
  const components = openComponents(deps.secrets, getLiveRelease(deps.db, workload.id))
  if (kind === 'relocate-app') return relocate(deps, { workload, components, signal })
  const stops = kind === 'restart-app'
  const hooks = { enter: begins }
  if (await restartLive(deps, { workload, signal, stops, components, hooks })) return
  throw new Failure(
    'container_missing',
    'A container of this environment was removed.',
    'Deploy again: the same image can be used without a build.',
  )
}

/** Its outcome is stored with the live deployment; the state itself comes from the containers. */
function storeEnd(deps: AppJobDeps, job: Job, { kind, end }: { kind: AppJob; end: End }) {
  const { db } = deps
  const failure = end.status === 'failed' ? end.failure : null
  db.transaction(() => {
    const current = getCurrent(db, job.subjectId)
    if (current)
      updateDeployment(db, current.id, {
        errorStep: failure && appSteps[kind],
        errorCode: failure?.code ?? null,
        errorMessage: failure?.message ?? null,
        errorHint: failure?.hint ?? null,
      })
    endJob(db, job.id)
  })
  deps.routing.route({ id: job.subjectId, kind: 'app' }) // its page depends on whether it is being started
}
