import { setImmediate } from 'node:timers/promises'
import { resync } from '../docker/index.ts'
import type { EngineEvent, EngineFeed } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { accepts, awaitReturn } from './restore-routing.ts'
import { listPlaces } from './routing-store.ts'
import { findRouted, goesBackOnCrash } from './store.ts'
import type { Instance } from './store.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

type ExcludeDeps = RuntimeDeps & { feed: EngineFeed }

/** Milliseconds after which an event is late: the engine repeats some when it is connected to again. */
const lateAfter = 100

/** Milliseconds in which a container that has returned accepts a connection. */
const acceptTime = 250

/** Stops routing to an instance the moment it ends, and resumes when Docker restarts it, until the signal. */
export async function excludeEnded(deps: ExcludeDeps, { signal }: { signal: AbortSignal }) {
  for await (const event of deps.feed.listen(signal)) {
    if (event === resync || event.action !== 'die' || !deps.edge.isOn) continue
    const { instanceId, environmentId, serviceId } = readLabels(event.attributes)
    if (instanceId !== deps.instanceId) continue
    const workload: WorkloadKey = environmentId
      ? { id: environmentId, kind: 'app' }
      : { id: serviceId, kind: 'service' }
    excludeOne(deps, { workload, event, signal }).catch((error) => {
      if (signal.aborted) return
      report('requests were not kept from an instance that ended', error, { workload: workload.id })
    })
  }
}

type Ended = { workload: WorkloadKey; event: EngineEvent; signal: AbortSignal }

async function excludeOne(deps: RuntimeDeps, { workload, event, signal }: Ended) {
  // its watch decides first: then all requests go back, with one change of slots
  if (goesBackOnCrash(deps.db, workload.id)) await setImmediate()
  const isLate = Date.now() - event.time.getTime() > lateAfter
  const before = findEnded(deps, event)
  if (before && isLate && (await hasReturned(deps, before, { workload, event, signal })))
    return deps.routing.noteWell(before)
  const instance = findEnded(deps, event)
  if (!instance) return
  deps.routing.exclude(workload, [instance])
  awaitReturn(deps, workload, instance)
}

/** Undefined when it was found healthy since. */
function findEnded({ db, routing }: RuntimeDeps, { id, time }: EngineEvent) {
  const instance = findRouted(db, id)
  return instance && !routing.isWellSince(instance, time.getTime()) ? instance : undefined
}

/** True when it was started again after that event and already accepts connections. */
async function hasReturned(
  { db, observed }: RuntimeDeps,
  instance: Instance,
  { workload, event: { id, time }, signal }: Ended,
) {
  const container = await observed.inspect(id, { signal }).catch(() => null)
  if (container?.state !== 'running' || container.startedAt! <= time) return false
  const place = listPlaces(db, workload).find((one) => one.id === instance.id)
  return place !== undefined && accepts(place, { timeout: acceptTime, signal })
}
