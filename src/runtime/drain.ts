import { setTimeout as sleep } from 'node:timers/promises'
import { processLimits } from '../platform/limits.ts'
import type { TaskSignals } from './instance-tasks.ts'
import { getDrainSeconds, listPlaces } from './routing-store.ts'
import { stopAndRemove } from './remove.ts'
import { componentIn, findContainer } from './revert.ts'
import type { RollOutRun } from './run.ts'
import { listInstances, updateInstance } from './store.ts'
import type { Instance } from './store.ts'
import { lastFirst, waitingFor } from './workload.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** Milliseconds after which a request that read the old addresses has connected. */
const takesHold = 500

type DrainDeps = Pick<RuntimeDeps, 'db' | 'edge'>

/** Waits until open connections to the instances have ended, at most for the environment's drain time. */
export async function drain(
  { db, edge }: DrainDeps,
  workload: WorkloadKey,
  { instances, signal }: { instances: Pick<Instance, 'id'>[]; signal: AbortSignal },
) {
  const seconds = getDrainSeconds(db, workload)
  const ids = new Set(instances.map(({ id }) => id))
  const addresses = listPlaces(db, workload).flatMap(({ id, address, port }) =>
    ids.has(id) && address && port ? `${address}:${port}` : [],
  )
  if (!edge.isOn || seconds === 0 || addresses.length === 0) return
  await sleep(takesHold, undefined, { signal })
  await edge.drained(addresses, { seconds, signal })
}

/**
 * Stops and removes the containers of replaced releases. If the edge sent them requests, each is drained
 * first, in the background; not with `now`.
 */
export async function removeReplaced(
  deps: RuntimeDeps,
  { workload, now = false }: { workload: WorkloadKey; now?: boolean },
) {
  const replaced = listReplaced(deps, workload).filter(
    ({ id }) => !deps.instanceTasks.isRemoving(id),
  )
  // the components of a replaced release aren't kept
  const componentOf = componentIn(deps, workload)
  if (now || !deps.edge.isOn || workload.kind === 'service') {
    const end = (instance: Instance) => remove(deps, workload, instance)
    return lastFirst(workload, replaced, end, componentOf)
  }
  const waiting = waitingFor(replaced, componentOf)
  for (const instance of replaced)
    deps.instanceTasks.begin(instance, 'removal', async (signals) => {
      await deps.instanceTasks.ended(waiting(instance), signals.shutdown)
      await drainAndRemove(deps, { workload, instance, signals })
    })
}

async function drainAndRemove(
  deps: RuntimeDeps,
  {
    workload,
    instance,
    signals: { expedite, shutdown },
  }: { workload: WorkloadKey; instance: Instance; signals: TaskSignals },
) {
  const signal = AbortSignal.any([expedite, shutdown])
  await drain(deps, workload, { instances: [instance], signal }).catch((error) => {
    if (!expedite.aborted) throw error
  })
  shutdown.throwIfAborted()
  await remove(deps, workload, instance, { signal: shutdown }) // the next process removes it otherwise
}

async function remove(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  instance: Instance,
  options: { signal?: AbortSignal } = {},
) {
  const containerId = await findContainer(deps, workload, instance)
  if (containerId) await stopAndRemove(deps, containerId, options)
  updateInstance(deps.db, instance.id, { state: 'removed' })
}

/** Containers of a workload for which a network always has room. */
const mostAtOnce = 2 * processLimits.instances

/**
 * Waits while too many containers of earlier releases are draining: each uses memory and addresses. The last
 * release replaced may drain while the next one starts.
 */
export async function awaitDrains(run: RollOutRun) {
  const { db, instanceTasks, workload, release, hooks, signal } = run
  const replaced = listReplaced({ db }, workload)
  const coming = release.components.reduce((sum, { replicas }) => sum + replicas, 0)
  const isTight = listInstances(db, workload.id).length + coming > mostAtOnce
  const last = replaced.at(-1)?.releaseId
  const inTheWay = replaced.filter(({ releaseId }) => isTight || releaseId !== last)
  if (!inTheWay.some(({ id }) => instanceTasks.isRemoving(id))) return
  hooks.log?.('Waiting for open requests to an earlier version to end')
  await instanceTasks.ended(inTheWay, signal)
}

/** Only those whose containers haven't been removed yet. */
export const listReplaced = ({ db }: Pick<RuntimeDeps, 'db'>, { id }: WorkloadKey) =>
  listInstances(db, id).filter(({ state }) => state === 'draining')
