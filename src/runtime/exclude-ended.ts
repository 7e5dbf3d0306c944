import { resync } from '../docker/index.ts'
import type { EngineEvent, EngineFeed } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { isWellSince, excludeFromRouting } from './routing.ts'
import { awaitReturn } from './reconcile.ts'
import { findLiveInstance } from './store.ts'
import type { RuntimeDeps, WorkloadKey } from './workload.ts'

/** Stops routing to an instance the moment it ends, and resumes when Docker restarts it, until the signal. */
export async function leaveOutEnded(
  deps: RuntimeDeps & { feed: EngineFeed },
  { signal }: { signal: AbortSignal },
) {
  for await (const event of deps.feed.listen(signal)) {
    if (event === resync || event.action !== 'die' || !deps.edge.isOn) continue
    const { instanceId, environmentId, serviceId } = readLabels(event.attributes)
    if (instanceId !== deps.instanceId) continue
    const workload: WorkloadKey = environmentId
      ? { id: environmentId, kind: 'app' }
      : { id: serviceId, kind: 'service' }
    try {
      leaveOutOne(deps, workload, event)
    } catch (error) {
      report('requests were not kept from an instance that ended', error, { workload: workload.id })
    }
  }
}

function leaveOutOne(deps: RuntimeDeps, workload: WorkloadKey, { id, time }: EngineEvent) {
  const instance = findLiveInstance(deps.db, id)
  if (!instance || isWellSince(deps, instance, time)) return
  excludeFromRouting(deps, workload, [instance])
  awaitReturn(deps, workload, instance)
}
