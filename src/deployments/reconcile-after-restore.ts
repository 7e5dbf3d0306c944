import { setTimeout as sleep } from 'node:timers/promises'
import { forgetRestored, listRestored, listToLoad } from '../db/restored.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { urlOf } from '../environments/json.ts'
import { partLabel, readLabels } from '../docker/labels.ts'
import { hasPort, web } from '../environments/processes.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { hasJobOfKind } from '../jobs/store.ts'
import { pinWhereFound } from '../runtime/pin-store.ts'
import { adoptRelease, deleteInstance, listInstances } from '../runtime/store.ts'
import { isUp } from '../runtime/workload.ts'
import type { ServerEngines } from '../servers/server-engines.ts'
import { reconcileAfterRestore as reconcileServices } from '../services/recover.ts'
import type { ServiceDeps } from '../services/state.ts'
import { listInStatus } from '../services/store.ts'
import { lookForDeployments } from './look-for-deployments.ts'
import type { ObservedDeployments } from './look-for-deployments.ts'
import { statusOf } from './observe.ts'
import type { PipelineDeps } from './context.ts'
import { LogWriter } from '../logs/log-writer.ts'
import {
  forgetImagesBut,
  getJob,
  insertDeployment,
  logOf,
  moveDeployment,
  setRunning,
} from './store.ts'
import type { Job } from './store.ts'
import { reused } from './trigger.ts'
import { insertWaiting } from './waiting-store.ts'

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
  if (listRestored(deps.db, 'deployment').length === 0) return
  await untilServicesStarted(deps, signal)
  const images = await reconcileReached(deps, { signal })
  if (images) forgetImagesBut(deps.db, images) // nothing is built yet
}

/** Those on servers that were away follow when these are back, or were removed. */
export async function reconcileReturning(
  deps: ReconcileDeps & ServiceDeps & ReturningDeps,
  { kind, signal }: { kind: 'deployment' | 'service'; signal: AbortSignal },
) {
  const reconcile = kind === 'service' ? reconcileServices : reconcileReached
  for await (const _ of deps.serverEngines.changes(signal)) {
    await reconcile(deps, { signal })
    deps.jobs.wake()
    if (listRestored(deps.db, kind).length === 0) return
  }
}

type ReturningDeps = {
  jobs: Pick<Jobs, 'wake'>
  serverEngines: Pick<ServerEngines, 'changes'>
}

function reconcileReached(deps: ReconcileDeps, { signal }: { signal: AbortSignal }) {
  const failed = 'restored apps could not be looked for'
  return retryWhileEngineDown(deps.docker, { signal, failed }, async () => {
    const { seen, images } = await lookForDeployments(deps)
    for (const one of seen) settle(deps, one)
    return images
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
    (listRestored(db, 'service').length > 0 ||
      listInStatus(db, ['pulling', 'creating', 'starting']).length > 0 ||
      hasJobOfKind(db, 'restart'))
  const isLoading = () => listToLoad(db).some(({ subjectKind }) => subjectKind === 'service')
  while ((isLoading() || isStarting()) && !signal.aborted) {
    if (isLoading()) deadline = performance.now() + servicesFirst
    await sleep(200, undefined, { signal }).catch(() => {})
  }
}

function settle(deps: ReconcileDeps, { row, found }: ObservedDeployments) {
  if (found?.outlook.kind === 'away') return
  const told = deps.db.transaction((tx) => {
    forgetRestored(tx, row.id)
    if (found?.outlook.kind === 'newer') return adopt(deps, found.job, found.outlook.containers)
    if (found?.outlook.kind === 'again') return deployAgain(deps, found.job, found.outlook)
    return null
  })
  if (!told) return
  const log = new LogWriter(deps, told.log)
  log.write(told.line)
  log.flush()
}

/** Adds a deployment for containers of which nothing else is known, or brings back one whose end wasn’t known. */
function adopt(
  deps: ReconcileDeps,
  { deployment, environment, project }: Job,
  containers: ContainerSummary[],
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
    url: deployment.url && urlOf(deps, { environment, ownerId: project.ownerId }),
    finishedAt: container.createdAt,
  }
  const id = readLabels(container.labels).deploymentId
  const known = getJob(db, id)?.deployment
  const begun = listInstances(db, environment.id).filter(({ releaseId }) => releaseId === id)
  for (const instance of begun) deleteInstance(db, instance.id)
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
    ...seen,
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
    log: logOf(running),
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
  const again = insertWaiting(db, {
    ...{ ownerId: project.ownerId, projectId, environmentId, repositoryUrl, branch },
    pullReference,
    pullDigest: deployment.pullDigest,
    upload: deployment.upload,
    trigger: 'manual',
    triggeredBy,
    ...(fromImage && reused(deployment)),
    requestedCommit: commitHash ?? deployment.requestedCommit,
  })
  return {
    log: logOf(again),
    line: fromImage
      ? 'After a restore: Docker has the image of the live version, but not its containers.'
      : 'After a restore: Docker has neither containers nor image of the live version. It is deployed again.',
  }
}
