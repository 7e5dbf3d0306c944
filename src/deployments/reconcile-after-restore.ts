import { forgetRestored, listRestored } from '../db/restored.ts'
import type { ContainerSummary } from '../docker/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { urlOf } from '../environments/json.ts'
import { partLabel, readLabels } from '../docker/labels.ts'
import { web } from '../environments/processes.ts'
import { placesOf } from '../projects/places.ts'
import { adoptRelease } from '../runtime/store.ts'
import { isUp } from '../runtime/workload.ts'
import { lookForDeployments } from './look-for-deployments.ts'
import type { Seen } from './look-for-deployments.ts'
import { statusOf } from './observe.ts'
import type { PipelineDeps } from './pipeline.ts'
import { LogWriter } from '../logs/log-writer.ts'
import { forgetImagesBut, insertDeployment, logOf, moveDeployment, setRunning } from './store.ts'
import type { Job } from './store.ts'
import { reused } from './trigger.ts'
import { insertWaiting } from './waiting-store.ts'

type ReconcileDeps = Pick<
  PipelineDeps,
  'config' | 'db' | 'docker' | 'instanceId' | 'logDb' | 'logs'
>

/** Who caused a deployment that nobody asked for. */
const triggeredBy = 'a restore from a backup'

/**
 * After a restore: apps are found by the labels of their containers, and what is not there any more is
 * deployed again. What is to be done is in the database until it is done or in the queue.
 */
export async function reconcileAfterRestore(
  deps: ReconcileDeps,
  { signal }: { signal: AbortSignal },
) {
  if (listRestored(deps.db, 'deployment').length === 0) return
  const failed = 'what a backup brought back was not looked for'
  await retryWhileEngineDown(deps.docker, { signal, failed }, async () => {
    const { seen, images } = await lookForDeployments(deps)
    for (const one of seen) settle(deps, one)
    forgetImagesBut(deps.db, images)
  })
}

function settle(deps: ReconcileDeps, { row, found }: Seen) {
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

/** Nothing but its containers is known of it. */
function adopt(
  { config, db }: ReconcileDeps,
  { deployment, environment, project }: Job,
  containers: ContainerSummary[],
) {
  const container = containers[0]!
  const found = containers.map(({ id, state, labels }) => ({
    component: labels[partLabel] ?? web,
    containerId: id,
    state: isUp({ state }) ? ('live' as const) : ('stopped' as const),
  }))
  const running = insertDeployment(db, {
    id: readLabels(container.labels).deploymentId,
    projectId: deployment.projectId,
    environmentId: environment.id,
    status: 'stopped',
    trigger: 'manual',
    triggeredBy,
    repositoryUrl: deployment.repositoryUrl,
    branch: deployment.branch,
    image: container.image,
    url: deployment.url && urlOf(environment, placesOf({ config, db }, project.ownerId)),
    createdAt: container.createdAt,
    finishedAt: container.createdAt,
  })
  adoptRelease(db, {
    workload: { id: environment.id, kind: 'app' },
    id: running.id,
    containers: found,
  })
  setRunning(db, running, {})
  if (statusOf(found) === 'stopped')
    moveDeployment(db, { id: running.id, from: ['running'], status: 'stopped' })
  return {
    log: logOf(running),
    line: 'Found running after a restore. It was deployed when the backup had been made, so that its commit is not known.',
  }
}

function deployAgain(
  { db }: ReconcileDeps,
  { deployment, project }: Job,
  { fromImage }: { fromImage: boolean },
) {
  moveDeployment(db, { id: deployment.id, from: ['running'], status: 'stopped' })
  const { projectId, environmentId, repositoryUrl, branch, commitHash } = deployment
  const again = insertWaiting(db, {
    ...{ ownerId: project.ownerId, projectId, environmentId, repositoryUrl, branch },
    trigger: 'manual',
    triggeredBy,
    ...(fromImage && reused(deployment)),
    requestedCommit: commitHash ?? deployment.requestedCommit,
  })
  return {
    log: logOf(again),
    line: fromImage
      ? 'After a restore: the engine has the image of what ran here, but no container of it.'
      : 'After a restore: the engine has neither container nor image of what ran here. It is built anew.',
  }
}
