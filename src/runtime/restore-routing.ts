import { setTimeout as sleep } from 'node:timers/promises'
import { isEngineAway } from '../docker/failures.ts'
import { waitUntilAnswers } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { retryDelay, untilEngineResponds } from '../docker/retry-while-engine-down.ts'
import { report } from '../platform/journal.ts'
import type { TaskSignals } from './instance-tasks.ts'
import { listPlaces } from './routing-store.ts'
import type { InstanceAddress } from './routing-store.ts'
import { isRollingOut } from './store.ts'
import type { Instance } from './store.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** Milliseconds after which a container that doesn't respond is inspected again. */
const retryAfterMs = 10_000

/** Milliseconds between two checks of a container that is about to start. */
const interval = 250

/** Checks in a row. Docker waits longer each time before it restarts one that crashes, up to a minute. */
const mostChecks = 20

type Back = { workload: WorkloadKey; instance: Pick<Instance, 'id'>; containerId: string }

/** Routes requests to it again once it is healthy. The gate of a restart decides that for itself. */
export function awaitReturn(deps: RuntimeDeps, workload: WorkloadKey, instance: Instance) {
  const isFree = () => !deps.locks.isRollingOut(workload) || isRollingOut(deps.db, workload.id)
  const { containerId } = instance
  deps.instanceTasks.begin(instance, 'return', (signals) =>
    restoreRouting(deps, { workload, instance, containerId: containerId! }, { ...signals, isFree }),
  )
}

/**
 * Routes requests to an instance again once it accepts connections, such as one that Docker restarted. Gives
 * up when the container has ended, isn’t started soon or fails its health check: the next event handles that. `isFree` returns
 * true while no restart is running, whose gate would decide.
 */
async function restoreRouting(
  deps: RuntimeDeps,
  { workload, instance, containerId }: Back,
  { expedite, shutdown, isFree }: TaskSignals & { isFree: () => boolean },
) {
  const signal = AbortSignal.any([expedite, shutdown])
  let checks = 0
  let isTold = false
  try {
    for (;;) {
      const container = await look()
      if (container === null || (container && !mayBeWell(container))) return
      const place = awaited()
      if (!place) return
      if (!container) await sleep(retryDelay, undefined, { signal })
      else if (container.state !== 'running') {
        if (++checks > mostChecks) return
        await sleep(interval, undefined, { signal })
      } else if (await accepts(place, { timeout: retryAfterMs, signal })) {
        const back = awaited()
        return back ? deps.routing.include(workload, back) : undefined
      }
    }
  } catch (error) {
    if (!expedite.aborted) throw error
  }

  /** Undefined when it can't be inspected now: no event says when it can. */
  async function look() {
    try {
      return await untilEngineResponds({ docker: deps.docker, shutdown: signal }, () =>
        deps.observed.inspect(containerId, { signal }),
      )
    } catch (error) {
      if (signal.aborted || isEngineAway(error)) throw error
      if (!isTold)
        report('a container that returns could not be inspected', error, { id: containerId })
      isTold = true
      return undefined
    }
  }

  /** Null once something else was decided. */
  function awaited() {
    const place = listPlaces(deps.db, workload).find(({ id }) => id === instance.id)
    return place && deps.routing.isExcluded(place) && isFree() ? place : null
  }
}

/** True when it runs or is about to, and isn't known to be unhealthy. */
const mayBeWell = ({ state, health }: Pick<Container, 'state' | 'health'>) =>
  (state === 'running' || state === 'restarting') && health !== 'unhealthy'

/** The timeout is in milliseconds. */
export async function accepts(
  { address, port }: Pick<InstanceAddress, 'address' | 'port'>,
  options: { timeout: number; signal: AbortSignal },
) {
  return (
    !address ||
    !port ||
    (await waitUntilAnswers({ address, port, path: null, ...options })).answered
  )
}
