import type { Deps } from '../deps.ts'
import { withEngine } from '../docker/with-engine.ts'
import { busyStatuses } from './bring-up.ts'
import type { ServiceDeps } from './bring-up.ts'
import { removeService } from './remove.ts'
import { startService } from './start.ts'
import { listBeingDeleted, listInStatus } from './store.ts'

/** Takes up what the last process left in the middle: starts begin anew, deletions go on. */
export async function recoverServices(
  deps: ServiceDeps & Pick<Deps, 'runner' | 'logDb'>,
  { signal }: { signal: AbortSignal },
) {
  for (const service of listBeingDeleted(deps.db)) {
    const options = { signal, failed: 'a service was not removed', fields: { service: service.id } }
    await withEngine(deps.docker, options, () =>
      removeService(deps, { service, volumes: service.deletingVolumes }),
    )
  }
  for (const { id } of listInStatus(deps.db, busyStatuses)) {
    if (signal.aborted) return
    if (!deps.runner.isBusy(id))
      void deps.runner.run(id, (job) => startService(deps, { id, ...job }))
  }
}
