import { web } from '../environments/processes.ts'
import type { Logs } from '../logs/logs.ts'
import type { Observed } from '../runtime/observe.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { isWanted, listInstancesOf, listLiveInstances, updateInstance } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import { getCurrent, moveDeployment } from './store.ts'

type ObserveDeps = RuntimeDeps & { logs: Logs }

export const apps: Observed<ObserveDeps> = { kind: 'app', observe }

/** Updates the live deployment's state from its containers, which during a switch the deployment does. */
export async function observe(
  deps: ObserveDeps,
  environmentId: string,
  options: { orphans: boolean; signal: AbortSignal },
) {
  const seen = await reconcile(deps, { id: environmentId, kind: 'app' }, options)
  if (seen) publishStatus(deps, environmentId)
}

/** Counts what runs on a server that is lost as removed; its apps can be deployed again. */
export function giveUpServer(deps: ObserveDeps, serverId: string) {
  const { db, routing } = deps
  const lost = listInstancesOf(db, 'app').filter((instance) => instance.serverId === serverId)
  db.transaction((tx) => {
    for (const { id } of lost) updateInstance(tx, id, { state: 'removed' })
  })
  for (const id of new Set(lost.map(({ workloadId }) => workloadId))) {
    routing.route({ id, kind: 'app' })
    publishStatus(deps, id)
  }
}

/** Updates the state from the stored states of its containers. */
export function publishStatus(
  { db, logs }: Pick<ObserveDeps, 'db' | 'logs'>,
  environmentId: string,
) {
  const current = getCurrent(db, environmentId)
  if (!current) return
  const status = statusOf(listLiveInstances(db, environmentId))
  if (status === current.status) return
  if (moveDeployment(db, { id: current.id, from: [current.status], status }))
    logs.publish(current.id, { status })
}

/** `running` while `web` is running or, for an app without `web`, while any process is. */
export function statusOf(instances: Pick<Instance, 'component' | 'state'>[]) {
  const ofWeb = instances.filter(({ component }) => component === web)
  const decisive = ofWeb.length > 0 ? ofWeb : instances
  return decisive.some(isWanted) ? 'running' : 'stopped'
}
