import type { Deps } from '../deps.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { reconcileServicesAfterRestore } from './reconcile-after-restore.ts'
import { busyStatuses } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { changeService } from './change.ts'
import { removeService } from './remove.ts'
import { readAhead } from './definition.ts'
import type { Job } from './runner.ts'
import { definitionOf, startService } from './start.ts'
import { getSealedBefore, listBeingDeleted, listInStatus } from './store.ts'
import type { Service } from './store.ts'

/** Takes up what the last process left in the middle: starts and changes begin anew, deletions go on. */
export async function recoverServices(
  deps: ServiceDeps & Pick<Deps, 'runner' | 'logDb'>,
  { signal }: { signal: AbortSignal },
) {
  for (const service of listBeingDeleted(deps.db)) {
    const options = { signal, failed: 'a service was not removed', fields: { service: service.id } }
    await retryWhileEngineDown(deps.docker, options, () =>
      removeService(deps, { service, volumes: service.deletingVolumes }),
    )
  }
  await reconcileServicesAfterRestore(deps, { signal })
  for (const service of listInStatus(deps.db, busyStatuses)) {
    if (signal.aborted) return
    if (!deps.runner.isBusy(service.id))
      void deps.runner.run(service.id, (job) => goOn(deps, service, job))
  }
}

async function goOn(deps: ServiceDeps, service: Service, job: Parameters<Job>[0]) {
  const { id } = service
  if (getSealedBefore(deps.db, id) === null) return startService(deps, { id, ...job })
  const definition = definitionOf(deps, service)
  await readAhead(definition).catch(() => {}) // what is wrong with it, the change itself says
  return changeService(deps, { id, definition, ...job })
}
