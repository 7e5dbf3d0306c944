import { forgetRestored, listSought, listToLoad, noteAway } from '../db/restored.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { urlOf } from '../environments/json.ts'
import { partLabel } from '../docker/labels.ts'
import { hasPort, web } from '../environments/processes.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hasJobOfKind } from '../jobs/store.ts'
import { pinWhereFound } from '../runtime/pin-store.ts'
import { observeDifferent } from '../runtime/observe.ts'
import { adoptRelease, deleteInstance, listInstances } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import { isUp } from '../runtime/workload.ts'
import type { ServerEngines } from '../servers/server-engines.ts'
import { reconcileAfterRestore as reconcileServices } from '../services/recover.ts'
import type { ServiceDeps } from '../services/state.ts'
import { listInStatus } from '../services/store.ts'
import { lookForDeployments } from './look-for-deployments.ts'
import type { ObservedDeployments, Outlook } from './look-for-deployments.ts'
import { apps, statusOf } from './observe.ts'
import type { ObserveDeps } from './observe.ts'
import type { PipelineDeps } from './context.ts'
import { forgetImagesBut, getJob, insertDeployment, moveDeployment, setRunning } from './store.ts'
import type { Job } from './store.ts'
import { reused } from './trigger.ts'
import { insertWaiting, say } from './waiting-store.ts'
import { getWatchedOf, storeEnd } from './watch/store.ts'
import { sleepUpTo } from '../platform/pause.ts'

type ReconcileDeps = Pick<
  PipelineDeps,
  'config' | 'edge' | 'db' | 'docker' | 'engines' | 'instanceId' | 'logDb' | 'logs'
>

/** Shown as the user who started deployments after a restore. */
const triggeredBy = 'a restore from a backup'

/**
 * Finds apps by the labels of their containers after a restore, and deploys missing ones again. The work
 * stays in the database until it is done or queued.
 */
export async function reconcileAfterRestore(
  deps: ReconcileDeps,
  { signal }: { signal: AbortSignal },
) {
  if (listSought(deps.db, 'app').length === 0) return
  await untilServicesStarted(deps, signal)
  const looked = await reconcileReached(deps, { signal })
  if (looked) forgetImagesBut(deps.db, looked.images) // nothing is built yet
}

/** Those on servers that were away follow when these are back, or were removed. */
export async function reconcileReturning(
  deps: ReconcileDeps & ServiceDeps & ObserveDeps & ReturningDeps,
  { kind, signal }: { kind: 'app' | 'service'; signal: AbortSignal },
) {
  for await (const _ of deps.serverEngines.changes(signal)) {
    if (kind === 'service') await reconcileServices(deps, { signal })
    else await reconcileSought(deps, { signal })
    deps.jobs.wake()
    if (listSought(deps.db, kind).length === 0) return
  }
}

/** Those in whose environments deployments were queued or under way follow when these have ended. */
export async function reconcileAfterComing(
  deps: ReconcileDeps & ObserveDeps & ReturningDeps,
  { signal }: { signal: AbortSignal },
) {
  while (!signal.aborted) {
    const seen = await reconcileSought(deps, { signal })
    deps.jobs.wake()
    const coming = (seen ?? []).flatMap(({ found }) =>
      found?.outlook.kind === 'coming' ? deps.jobs.ended(found.outlook.id) : [],
    )
    if (coming.length === 0) return
    await Promise.race(coming)
  }
}

/** Also observes those that were found: nothing did before. */
async function reconcileSought(
  deps: ReconcileDeps & ObserveDeps,
  { signal }: { signal: AbortSignal },
) {
  const looked = await reconcileReached(deps, { signal })
  await observeDifferent(deps, apps, { signal })
  return looked?.seen
}

type ReturningDeps = {
  jobs: Pick<Jobs, 'wake' | 'ended'>
  serverEngines: Pick<ServerEngines, 'changes'>
}

function reconcileReached(deps: ReconcileDeps, { signal }: { signal: AbortSignal }) {
  const failed = 'restored apps could not be looked for'
  return retryWhileEngineDown(deps.docker, { signal, failed }, async () => {
    const looked = await lookForDeployments(deps)
    for (const one of looked.seen) settle(deps, one)
    return looked
  })
}

/**
 * In milliseconds that apps wait for restored services, as many would fail without their database. They wait
 * longer for data that is being loaded, as an app would set up an empty database, then for the restart after it.
 */
const servicesFirst = 180_000

async function untilServicesStarted({ db }: ReconcileDeps, signal: AbortSignal) {
  let deadline = performance.now() + servicesFirst
  const isStarting = () =>
    performance.now() < deadline &&
    (listSought(db, 'service').length > 0 ||
      listInStatus(db, ['pulling', 'creating', 'starting']).length > 0 ||
      hasJobOfKind(db, 'restart'))
  const isLoading = () => listToLoad(db).some(({ subjectKind }) => subjectKind === 'service')
  while ((isLoading() || isStarting()) && !signal.aborted) {
    if (isLoading()) deadline = performance.now() + servicesFirst
    await sleepUpTo(200, signal)
  }
}

function settle(deps: ReconcileDeps, { row, found }: ObservedDeployments) {
  if (found?.outlook.kind === 'away') return noteAway(deps.db, row.id)
  if (found?.outlook.kind === 'coming') return
  const told = deps.db.transaction((tx) => {
    if (!forgetRestored(tx, row.id)) return null
    if (found?.outlook.kind === 'newer') return adopt(deps, found.job, found.outlook)
    if (found?.outlook.kind === 'again') return deployAgain(deps, found.job, found.outlook)
    return null
  })
  if (told) say(deps, told.of, told.line)
}

/** Adds a deployment for containers of which nothing else is known, or brings back one that ended otherwise. */
function adopt(
  deps: ReconcileDeps,
  { deployment, environment, project }: Job,
  { id, containers }: Extract<Outlook, { kind: 'newer' }>,
) {
  const { db } = deps
  const container = containers[0]!
  const found = containers.map(({ id, serverId, state, labels }) => ({
    component: labels[partLabel] ?? web,
    serverId,
    containerId: id,
    state: isUp({ state }) ? ('live' as const) : ('stopped' as const),
  }))
  const seen = {
    image: container.image,
    url: urlOf(deps, { environment, ownerId: project.ownerId }),
    finishedAt: container.createdAt,
  }
  const known = getJob(db, id)?.deployment
  const ids = new Set<string | null>(containers.map((one) => one.id))
  const its = ({ releaseId, containerId }: Instance) => releaseId === id || ids.has(containerId)
  for (const instance of listInstances(db, environment.id).filter(its))
    deleteInstance(db, instance.id)
  const watched = getWatchedOf(db, environment.id)
  if (watched) storeEnd(db, watched, { end: 'replaced' })
  const newer = {
    id,
    projectId: deployment.projectId,
    environmentId: environment.id,
    status: 'stopped',
    trigger: 'manual',
    triggeredBy,
    repositoryUrl: deployment.repositoryUrl,
    branch: deployment.branch,
    refType: deployment.refType,
    pullReference: deployment.pullReference,
    createdAt: container.createdAt,
  } as const
  const running = known ?? insertDeployment(db, newer)
  const workload = { id: environment.id, kind: 'app' } as const
  pinWhereFound(db, workload, container.serverId)
  adoptRelease(db, {
    workload,
    id: running.id,
    edge: hasPort(environment) && containers.some(isBehindEdge),
    containers: found,
  })
  setRunning(db, running, { ...seen, ...noError })
  if (statusOf(found) === 'stopped')
    moveDeployment(db, { id: running.id, from: ['running'], status: 'stopped' })
  return {
    of: running,
    line: known
      ? 'Found running after a restore. It went live after the backup was made.'
      : 'Found running after a restore. It was deployed after the backup was made, so its commit is unknown.',
  }
}

const noError = { errorStep: null, errorCode: null, errorMessage: null, errorHint: null }

/** Only running containers have a published address. */
const isBehindEdge = ({ state, ports, labels }: ContainerSummary) =>
  (labels[partLabel] ?? web) === web && state === 'running' && ports.length === 0

function deployAgain(
  { db }: ReconcileDeps,
  { deployment, project }: Job,
  { fromImage }: { fromImage: boolean },
) {
  moveDeployment(db, { id: deployment.id, from: ['running'], status: 'stopped' })
  const { projectId, environmentId, repositoryUrl, branch, pullReference, commitHash } = deployment
  const requestedCommit = commitHash ?? deployment.requestedCommit
  if (deployment.refType === 'pull' && !requestedCommit && !fromImage)
    return {
      of: deployment,
      line: 'After a restore: Docker has neither containers nor image of the live version, and which commit of the pull request that was isn’t known. Deploy it again.',
    }
  const again = insertWaiting(db, {
    ...{ ownerId: project.ownerId, projectId, environmentId, repositoryUrl, branch },
    pullReference,
    refType: deployment.refType, // without it a fork would get the project’s keys and caches
    pullDigest: deployment.pullDigest,
    upload: deployment.upload,
    trigger: 'manual',
    triggeredBy,
    ...(fromImage && reused(deployment)),
    requestedCommit,
  })
  return {
    of: again,
    line: fromImage
      ? 'After a restore: Docker has the image of the live version, but not its containers.'
      : 'After a restore: Docker has neither containers nor image of the live version. It is deployed again.',
  }
}
