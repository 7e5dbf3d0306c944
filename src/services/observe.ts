import { resync } from '../docker/index.ts'
import type { Container, EngineEvent, EngineFeed } from '../docker/index.ts'
import { readLabels } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { reconcile } from '../runtime/reconcile.ts'
import type { Seen } from '../runtime/reconcile.ts'
import { untilEngineResponds } from '../runtime/undo.ts'
import { tell } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { getService, listInStatus } from './store.ts'
import type { ServiceStatus } from './store.ts'

/** States that say what the containers do, and so change with them. */
const settled = ['running', 'unhealthy', 'stopped'] as const satisfies ServiceStatus[]

const isSettled = (status: ServiceStatus) => (settled as readonly string[]).includes(status)

/** Keeps the states of instances true, whoever stops, kills or starts their containers. */
export async function watchServices(
  deps: ServiceDeps & { feed: EngineFeed },
  { signal }: { signal: AbortSignal },
) {
  for await (const event of deps.feed.listen(signal)) {
    const ids =
      event === resync ? listInStatus(deps.db, settled).map(({ id }) => id) : idsIn(deps, event)
    for (const id of ids) await look(deps, id, { signal })
  }
}

/** Observes it as soon as the engine responds: a state must not stay untrue. Never throws. */
export const look = (deps: ServiceDeps, id: string, { signal }: { signal: AbortSignal }) =>
  untilEngineResponds({ docker: deps.docker, shutdown: signal }, () =>
    observe(deps, id, { orphans: false, signal }),
  ).catch((error) => {
    if (!signal.aborted) report('a service was not looked at', error, { service: id })
  })

/** Of the instance whose container the event is about, where it may change that one's state. */
function idsIn(deps: ServiceDeps, { action, attributes }: EngineEvent) {
  const { instanceId, serviceId } = readLabels(attributes)
  const isTelling = /^(start|die|destroy|health_status)/.test(action)
  return instanceId === deps.instanceId && isTelling && serviceId ? [serviceId] : []
}

/** Makes the state of an instance say what its containers do; left to the job that is at work there. */
export async function observe(
  deps: ServiceDeps,
  id: string,
  options: { orphans: boolean; signal: AbortSignal },
) {
  const seen = await reconcile(deps, { id, kind: 'service' }, options)
  const service = getService(deps.db, id)
  if (!seen || !service || !isSettled(service.status)) return
  const status = stateOf(seen, service.status)
  if (status !== service.status) tell(deps, service, status)
}

/** All well, some not, or none running. A health check that has yet to pass changes nothing. */
export function stateOf(seen: Seen[], now: ServiceStatus): ServiceStatus {
  const containers = seen.flatMap(({ container }) =>
    container && !hasDone(container) ? container : [],
  )
  if (containers.every(({ state }) => ['exited', 'created', 'dead'].includes(state)))
    return 'stopped'
  const isWell = ({ state, health }: Container) =>
    state === 'running' && (health === 'starting' ? now === 'running' : health !== 'unhealthy')
  return containers.every(isWell) ? 'running' : 'unhealthy'
}

/** It ended with success, which it may. */
const hasDone = ({ state, exitCode, restartPolicy: { name } }: Container) =>
  state === 'exited' && exitCode === 0 && (name === 'no' || name === 'on-failure')
