import type { LogDb } from '../db/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { listDifferent } from '../runtime/reconcile.ts'
import { observe } from './observe.ts'
import { reconcileServicesAfterRestore } from './reconcile-after-restore.ts'
import { removeService } from './remove.ts'
import { serviceJobs } from './service-jobs.ts'
import type { ServiceDeps } from './state.ts'
import { listBeingDeleted } from './store.ts'

/** Takes up what the last process left in the middle: starts and changes begin again, deletions go on. */
export async function recoverServices(
  deps: ServiceDeps & { jobs: Jobs; logDb: LogDb },
  { signal }: { signal: AbortSignal },
) {
  const { docker } = deps
  for (const service of listBeingDeleted(deps.db)) {
    const options = { signal, failed: 'a service was not removed', fields: { service: service.id } }
    await retryWhileEngineDown(docker, options, () =>
      removeService(deps, { service, volumes: service.deletingVolumes }),
    )
  }
  await reconcileServicesAfterRestore(deps, { signal })
  const options = { signal, failed: 'the state of a service is not known' }
  const different = await retryWhileEngineDown(docker, options, () =>
    listDifferent(deps, 'service', { signal }),
  )
  for (const id of different ?? [])
    await retryWhileEngineDown(docker, { ...options, fields: { service: id } }, () =>
      observe(deps, id, { orphans: true, signal }),
    )
  if (signal.aborted) return // the next process takes up what is left
  await deps.jobs.recover(serviceJobs)
  deps.jobs.wake()
}
