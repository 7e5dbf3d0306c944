import { web } from '../environments/processes.ts'
import type { Logs } from '../logs/logs.ts'
import type { Observed } from '../runtime/observe.ts'
import { unpinFrom } from '../runtime/pin-store.ts'
import { reconcile } from '../runtime/reconcile.ts'
import { isWanted, listInstancesOf, listLiveInstances, updateInstance } from '../runtime/store.ts'
import type { Instance } from '../runtime/store.ts'
import type { RuntimeDeps } from '../runtime/deps.ts'
import type { WorkloadKey } from '../runtime/workload.ts'
import { moveService } from '../services/store.ts'
import { getCurrent, moveDeployment } from './store.ts'

export type ObserveDeps = RuntimeDeps & { logs: Logs }

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

/** Counts what is on a server that is lost as removed, also volumes; it can be started again elsewhere. */
export function giveUpServer(deps: ObserveDeps, serverId: string) {
  const { db, routing } = deps
  const lostOf = (kind: WorkloadKey['kind']) =>
    listInstancesOf(db, kind).filter((instance) => instance.serverId === serverId)
  const lost = { app: lostOf('app'), service: lostOf('service') }
  db.transaction((tx) => {
    for (const { id } of [...lost.app, ...lost.service])
      updateInstance(tx, id, { state: 'removed' })
    for (const { workloadId: id } of lost.service)
      if (!listLiveInstances(tx, id).some(isWanted)) moveService(tx, { id, status: 'stopped' })
    unpinFrom(tx, serverId)
  })
  for (const kind of ['app', 'service'] as const)
    for (const id of new Set(lost[kind].map(({ workloadId }) => workloadId))) {
      routing.route({ id, kind })
      if (kind === 'app') publishStatus(deps, id)
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
