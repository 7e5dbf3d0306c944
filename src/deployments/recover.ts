import { rm } from 'node:fs/promises'
import { listSought } from '../db/restored.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { listEnvironmentsBeingDeleted } from '../environments/store.ts'
import type { Logs } from '../logs/logs.ts'
import { losePublicNames } from '../runtime/images/pull-image.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { observeDifferent } from '../runtime/observe.ts'
import { listProjectsBeingDeleted } from '../projects/store.ts'
import { report } from '../platform/journal.ts'
import { removeOrphanImages } from './images.ts'
import { apps } from './observe.ts'
import { downloadsIn } from './steps/remote-files.ts'
import { getStatus, listInStatus } from './store.ts'
import type { Uploads } from './uploads.ts'
import { appliesSettings, publishSuperseded, supersedeOlder } from './waiting-store.ts'
import type { Watches } from './watch/watches.ts'

export type RecoverDeps = RemovalDeps & { logs: Logs; uploads: Uploads }
type UntilStopped = { signal: AbortSignal }

/**
 * Resumes after a restart: live versions are started, deployments are requeued or fail with the reason,
 * deletions continue, and restored apps are found. Waits for the engine. Code that few starts need is
 * imported on demand.
 */
export async function recover(
  deps: RecoverDeps & { watches: Pick<Watches, 'resume'> },
  { signal }: UntilStopped,
) {
  await deps.uploads.sweep()
  // before the first build, which can start as soon as it is requeued
  await rm(downloadsIn(deps.config.dataDir), { recursive: true, force: true }).catch((error) =>
    report('downloads of the last process could not be removed', error),
  )
  await deps.jobs.recover(['deploy'], ({ id }) => getStatus(deps.db, id) !== 'deploying')
  supersede(deps)

  if (listSought(deps.db, 'app').length > 0)
    await (await import('./reconcile-after-restore.ts')).reconcileAfterRestore(deps, { signal })
  // ahead of all that follows: visitors may wait until a version goes back
  if (!signal.aborted) deps.watches.resume()
  await observeDifferent(deps, apps, { signal })
  if (signal.aborted) return // the next process resumes the rest
  await deps.jobs.recover(['deploy'])
  supersede(deps)
  // Each build does this itself first, as one may have started by now; without one, names would stay.
  await retryWhileEngineDown(deps.docker, { signal, failed: 'images could not be renamed' }, () =>
    losePublicNames(deps),
  )
  if (signal.aborted) return
  deps.jobs.wake()

  await removeOrphanImages(deps, { signal })
  await goOnDeleting(deps, { signal })
}

/**
 * Older deployments that were requeued may wait beside newer ones. What waits for more than its turn was replaced when
 * a newer one was asked for, or stays: what ran before a restore, and is deployed again, replaces no newer version.
 * Settings are applied only where nothing else was queued, so an older commit beside them has waited for its checks,
 * and is deployed after them.
 */
function supersede(deps: RecoverDeps) {
  const newer = listInStatus(deps.db, ['pending']).filter((one) => !appliesSettings(one))
  for (const waiting of newer)
    publishSuperseded(deps, supersedeOlder(deps.db, waiting, ['pending']))
}

/** With what was deleted while something was in its way. */
export async function goOnDeleting(deps: RecoverDeps, { signal }: UntilStopped) {
  for (const environment of listEnvironmentsBeingDeleted(deps.db)) {
    const { removeEnvironment } = await import('../environments/remove.ts')
    const fields = { environment: environment.id }
    const options = { signal, failed: 'environment removal failed', fields }
    await retryWhileEngineDown(deps.docker, options, () => removeEnvironment(deps, environment))
  }
  for (const project of listProjectsBeingDeleted(deps.db)) {
    const { removeProject } = await import('../projects/remove.ts')
    const options = { signal, failed: 'project removal failed', fields: { project: project.id } }
    await retryWhileEngineDown(deps.docker, options, () =>
      removeProject(deps, { project, volumes: project.deletingVolumes }),
    )
  }
}
