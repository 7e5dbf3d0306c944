import { rm } from 'node:fs/promises'
import type { Deps } from '../deps.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { removeEnvironment } from '../environments/remove.ts'
import { listEnvironmentsBeingDeleted } from '../environments/store.ts'
import { losePublicNames } from '../runtime/images/bring.ts'
import { removeProject } from '../projects/remove.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { reconcileAfterRestore } from './reconcile-after-restore.ts'
import { renameOldImages } from './image-name.ts'
import { removeOrphanContainers, removeOrphanImages } from './orphans.ts'
import { observe } from './observe.ts'
import { downloadsIn } from './steps/remote-files.ts'
import { getCurrent, getStatus, listInStatus, listUnreported } from './store.ts'
import type { Deployment } from './store.ts'
import { supersedeOlder, tellSuperseded } from './waiting.ts'
import { reportEnds } from './report-commit-status.ts'

type RecoverDeps = Omit<Deps, 'streams' | 'setupCode'>
type UntilStopped = { signal: AbortSignal }

/**
 * Takes up what the last process left in the middle: what served is started again, deployments go
 * back into the queue or end as failed with the reason, deletions go on, and what a backup brought
 * back is looked for. Waits for the engine.
 */
export async function recover(deps: RecoverDeps, { signal }: UntilStopped) {
  const untold = listUnreported(deps.db)
  const switching = listInStatus(deps.db, ['deploying'])
  await deps.jobs.recover(['deploy'], ({ id }) => getStatus(deps.db, id) !== 'deploying')

  await reconcileAfterRestore(deps, { signal })
  await removeOrphanContainers(deps, { signal })
  for (const deployment of switching) await startPrevious(deps, deployment, { signal })
  if (signal.aborted) return // the next process takes up what is left
  await deps.jobs.recover(['deploy'])
  for (const deployment of switching) await observeAgain(deps, deployment, { signal })
  if (signal.aborted) return
  await rm(downloadsIn(deps.config.dataDir), { recursive: true, force: true })
  await hideImages(deps, { signal })
  if (signal.aborted) return
  for (const waiting of listInStatus(deps.db, ['pending']))
    tellSuperseded(deps, supersedeOlder(deps.db, waiting))
  deps.jobs.wake()

  await Promise.all([
    reportEnds(deps, { deployments: untold, signal }),
    removeOrphanImages(deps, { signal }).then(() => goOnDeleting(deps, { signal })),
  ])
}

/** No build starts before images have only the names that their owners know. */
const hideImages = (deps: RecoverDeps, { signal }: UntilStopped) =>
  retryWhileEngineDown(deps.docker, { signal, failed: 'images keep their old names' }, async () => {
    await renameOldImages(deps)
    await losePublicNames(deps)
  })

/** It may have been stopped to make room. */
async function startPrevious(
  { db, docker }: RecoverDeps,
  { id, environmentId }: Deployment,
  { signal }: UntilStopped,
) {
  const failed = 'the previous container did not start'
  await retryWhileEngineDown(docker, { signal, failed, fields: { deployment: id } }, async () => {
    const previous = getCurrent(db, environmentId)
    if (previous?.status === 'running' && previous.containerId)
      await docker.startContainer(previous.containerId)
  })
}

const observeAgain = (
  deps: RecoverDeps,
  { id, environmentId }: Deployment,
  { signal }: UntilStopped,
) =>
  retryWhileEngineDown(
    deps.docker,
    { signal, failed: 'the state of an app is not known', fields: { deployment: id } },
    () => observe(deps, environmentId),
  )

async function goOnDeleting(deps: RecoverDeps, { signal }: UntilStopped) {
  for (const environment of listEnvironmentsBeingDeleted(deps.db)) {
    const fields = { environment: environment.id }
    const options = { signal, failed: 'environment removal failed', fields }
    await retryWhileEngineDown(deps.docker, options, () => removeEnvironment(deps, environment))
  }
  for (const project of listProjectsBeingDeleted(deps.db)) {
    const options = { signal, failed: 'project removal failed', fields: { project: project.id } }
    await retryWhileEngineDown(deps.docker, options, () =>
      removeProject(deps, { project, volumes: project.deletingVolumes }),
    )
  }
}
