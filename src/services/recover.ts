import type { LogDb } from '../db/index.ts'
import { retryWhileEngineDown, waitForEngine } from '../docker/retry-while-engine-down.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { reconcileServicesAfterRestore } from './reconcile-after-restore.ts'
import type { ServiceDeps } from './bring-up.ts'
import { removeService } from './remove.ts'
import { serviceJobs } from './service-jobs.ts'
import { listBeingDeleted } from './store.ts'

/** Takes up what the last process left in the middle: starts and changes begin again, deletions go on. */
export async function recoverServices(
  deps: ServiceDeps & { jobs: Jobs; logDb: LogDb },
  { signal }: { signal: AbortSignal },
) {
  for (const service of listBeingDeleted(deps.db)) {
    const options = { signal, failed: 'a service was not removed', fields: { service: service.id } }
    await retryWhileEngineDown(deps.docker, options, () =>
      removeService(deps, { service, volumes: service.deletingVolumes }),
    )
  }
  await reconcileServicesAfterRestore(deps, { signal })
  if (!(await waitForEngine(deps.docker, { signal }))) return // the next process takes up what is left
  await deps.jobs.recover(serviceJobs)
  deps.jobs.wake()
}
