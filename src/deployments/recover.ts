import { rm } from 'node:fs/promises'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { removeEnvironment } from '../environments/remove.ts'
import { listEnvironmentsBeingDeleted } from '../environments/store.ts'
import type { Logs } from '../logs/logs.ts'
import { losePublicNames } from '../runtime/images/bring.ts'
import { removeProject } from '../projects/remove.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { observeDifferent } from '../runtime/observe.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { reconcileAfterRestore } from './reconcile-after-restore.ts'
import { removeOrphanImages, renameOldImages } from './images.ts'
import { apps } from './observe.ts'
import { downloadsIn } from './steps/remote-files.ts'
import { getStatus, listInStatus, listUnreported } from './store.ts'
import { tellSuperseded } from './tell.ts'
import { supersedeOlder } from './waiting-store.ts'
import { reportEnds } from './commit-status.ts'

type RecoverDeps = RemovalDeps & { logs: Logs }
type UntilStopped = { signal: AbortSignal }

/**
 * Takes up what the last process left in the middle: what served is started again, deployments go
 * back into the queue or end as failed with the reason, deletions go on, and what a backup brought
 * back is looked for. Waits for the engine.
 */
export async function recover(deps: RecoverDeps, { signal }: UntilStopped) {
  const untold = listUnreported(deps.db)
  await deps.jobs.recover(['deploy'], ({ id }) => getStatus(deps.db, id) !== 'deploying')

  await reconcileAfterRestore(deps, { signal })
  await observeDifferent(deps, apps, { signal })
  if (signal.aborted) return // the next process takes up what is left
  await deps.jobs.recover(['deploy'])
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
