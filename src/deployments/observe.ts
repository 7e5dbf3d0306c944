import { web } from '../environments/processes.ts'
import type { Logs } from '../logs/logs.ts'
import type { Observed } from '../runtime/observe.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { listLiveInstances } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import type { RuntimeDeps } from '../runtime/workload.ts'
import { getCurrent, moveDeployment } from './store.ts'

type ObserveDeps = RuntimeDeps & { logs: Logs }

/** The apps of environments, as they are observed. */
export const apps: Observed<ObserveDeps> = { kind: 'app', observe }

/**
 * Makes the state of an environment's current deployment say what its containers do. While they are
 * switched it is left to the deployment that does it.
 */
export async function observe(
  deps: ObserveDeps,
  environmentId: string,
  options: { orphans: boolean; signal: AbortSignal },
) {
  const seen = await reconcile(deps, { id: environmentId, kind: 'app' }, options)
  if (seen) tellState(deps, environmentId)
}

/** The same by what is stored of its containers. */
export function tellState({ db, logs }: Pick<ObserveDeps, 'db' | 'logs'>, environmentId: string) {
  const current = getCurrent(db, environmentId)
  if (!current) return
  const status = statusOf(listLiveInstances(db, environmentId))
  if (status === current.status) return
  if (moveDeployment(db, { id: current.id, from: [current.status], status }))
    logs.publish(current.id, { status })
}

/** `running` while its `web` does; where it has none, while any of its processes does. */
export function statusOf(instances: Pick<Instance, 'component' | 'state'>[]) {
  const ofWeb = instances.filter(({ component }) => component === web)
  const decisive = ofWeb.length > 0 ? ofWeb : instances
  return decisive.some(({ state }) => state === 'live') ? 'running' : 'stopped'
}
