import type { Container } from '../docker/index.ts'
import type { Observed } from '../runtime/observe.ts'
import { reconcile } from '../runtime/reconcile.ts'
import type { ObservedInstance } from '../runtime/reconcile.ts'
import { listLiveInstances } from '../runtime/store.ts'
import { settledStatuses } from './state.ts'
import type { ServiceDeps } from './state.ts'
import { getService, listInStatus, moveService } from './store.ts'
import type { Service, ServiceStatus } from './store.ts'

/** The state of services also depends on the health of their containers. */
export const services: Observed<ServiceDeps> = {
  kind: 'service',
  observe,
  listAlways: ({ db }) => listInStatus(db, settledStatuses).map(({ id }) => id),
}

/** Updates the state of an instance from its containers. During a job the job does this itself. */
export async function observe(
  deps: ServiceDeps,
  id: string,
  options: { orphans: boolean; signal: AbortSignal },
) {
  const seen = await reconcile(deps, { id, kind: 'service' }, options)
  const service = getService(deps.db, id)
  if (!seen || !service || !isSettled(service) || isOutOfSight(deps, id)) return
  const status = stateOf(seen, service.status)
  if (status !== service.status) moveService(deps.db, { id: service.id, status })
}

/** True of one with containers on a server that is away: what they do there isn’t known. */
export const isOutOfSight = ({ db, engines }: Pick<ServiceDeps, 'db' | 'engines'>, id: string) =>
  listLiveInstances(db, id).some((instance) => engines.isAway(instance))

export const isSettled = ({ status }: Pick<Service, 'status'>) =>
  (settledStatuses as ServiceStatus[]).includes(status)

/** Running, unhealthy, or stopped. A pending health check doesn't change the state. */
export function stateOf(seen: ObservedInstance[], now: ServiceStatus): ServiceStatus {
  const containers = seen.flatMap(({ container }) =>
    container && !hasDone(container) ? container : [],
  )
  if (containers.every(({ state }) => ['exited', 'created', 'dead'].includes(state)))
    return 'stopped'
  const isWell = ({ state, health }: Container) =>
    state === 'running' && (health === 'starting' ? now === 'running' : health !== 'unhealthy')
  return containers.every(isWell) ? 'running' : 'unhealthy'
}

/** True when it ended with success and isn't meant to restart. */
const hasDone = ({ state, exitCode, restartPolicy: { name } }: Container) =>
  state === 'exited' && exitCode === 0 && (name === 'no' || name === 'on-failure')
