import { isAppAway, isAppSought, listSought } from '../db/restored.ts'
import type { Container, ContainerSummary } from '../docker/index.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { openComponents } from './component.ts'
import { removeReplaced } from './drain.ts'
import { adoptAddress } from './endpoint-store.ts'
import { isPolicyLent } from './freeze.ts'
import { listPlaces, listUnplaced, ownNetworkOf } from './routing-store.ts'
import { listOnce } from './once-store.ts'
import { awaitReturn } from './restore-routing.ts'
import { isContainerOf, revertInterrupted } from './revert.ts'
import { removeOrLeave, stopAndRemove } from './remove.ts'
import { isOnceWanted, removeOnce } from './run-once.ts'
import {
  getInstance,
  getLiveRelease,
  getShare,
  giveUpUnfinished,
  isKnown,
  isOfLive,
  isRollingOut,
  isWatched,
  keyOf,
  listInstances,
  listInstancesOf,
  listLiveInstances,
  listRollingOut,
  updateInstance,
} from './store.ts'
import type { Instance } from './store.ts'
import { mayStart, settleStandby } from './standby.ts'
import { filterOf, isUp } from './workload.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** The container is null when it was removed. */
export type ObservedInstance = { instance: Instance; container: Container | null }

type Options = {
  /** True to handle also containers that the database doesn't know. */
  orphans: boolean
  signal: AbortSignal
}

/**
 * Compares a workload in the database with its containers, and resolves differences: an interrupted roll-out
 * is undone, replaced containers and orphans are removed, and instances of the live release become `live` or
 * `stopped` like their containers. Returns null during a roll-out, and until a restored app was looked for. Of one
 * that may be on a server that is away nothing is undone, stopped or removed: it may be what is live. Null also
 * there, while a roll-out is interrupted. One-off containers are kept while they are needed. What can't be removed
 * is left: `listLeft` has it.
 */
export async function reconcile(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  { orphans, signal }: Options,
): Promise<ObservedInstance[] | null> {
  const { locks } = deps
  await deps.edge.ready({ signal })
  if (locks.isRollingOut(workload) || isAppSought(deps.db, workload.id)) return null
  return locks.run(workload, signal, async () => {
    if (isAppAway(deps.db, workload.id)) return observeWhileAway(deps, workload)
    await revertInterrupted(deps, { workload, shutdown: signal })
    giveUpUnfinished(deps.db, workload.id)
    deps.routing.route(workload) // a killed process may not have done it
    await removeReplaced(deps, { workload })
    await removeOrLeave(workload, () => settleStandby(deps, workload))
    for (const instance of listOnce(deps.db, workload.id))
      if (!isOnceWanted(deps, instance.id) && !deps.engines.isAway(instance))
        await removeOrLeave(workload, () => removeOnce(deps, { workload, id: instance.id }))
    if (orphans) await settleStrays(deps, workload)
    return observe(deps, workload)
  })
}

/** What an interrupted roll-out stopped still counts as live: it is started again once its server is back. */
function observeWhileAway(deps: RuntimeDeps, workload: WorkloadKey) {
  if (!isRollingOut(deps.db, workload.id)) return observe(deps, workload)
  deps.routing.route(workload)
  return null
}

/** Workloads for which `reconcile` has something to do, from one list of all containers. */
export async function listDifferent(
  deps: RuntimeDeps,
  kind: WorkloadKey['kind'],
  { signal }: { signal: AbortSignal },
): Promise<Set<string>> {
  const { db, engines, edge, instanceId, observed, routing } = deps
  const labels = labelFilter(instanceId, { kind })
  const { found: containers, away } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true, signal }),
  )
  const there = new Map(containers.map((container) => [container.id, container]))
  const held = listInstancesOf(db, kind).filter(({ serverId }) => !away.has(serverId))
  const known = new Set(held.map(({ containerId }) => containerId))
  const isStandbyAsItIs = (instance: Instance) => {
    const { containerId, workloadId } = instance
    const container = there.get(containerId ?? '')
    if (!container) return false
    if (edge.isOn && getShare(db, workloadId))
      return isUp(container) !== routing.isExcluded(instance)
    if (isWatched(db, workloadId)) return true
    const known = observed.condition(container.id) // a list has no restart policies
    return !isUp(container) && known !== null && !mayStart(known)
  }
  return new Set([
    ...listRollingOut(db, kind),
    ...(edge.isOn && kind === 'app' ? listUnplaced(db) : []),
    ...held.flatMap((instance) => {
      const { workloadId, containerId, state } = instance
      const isAsItIs =
        state === 'once'
          ? isOnceWanted(deps, instance.id)
          : state === 'standby'
            ? isStandbyAsItIs(instance)
            : state !== 'unhealthy' &&
              state === stateOf(edge, instance, there.get(containerId ?? '') ?? null)
      return isAsItIs ? [] : workloadId
    }),
    ...containers.flatMap(({ id, labels }) => {
      const { environmentId, serviceId } = readLabels(labels)
      return known.has(id) ? [] : environmentId || serviceId || []
    }),
  ])
}

/** Workloads with containers that should be gone: they couldn't be removed when it was time. */
export function listLeft(deps: RuntimeDeps, kind: WorkloadKey['kind']) {
  const isLeft = ({ id, state }: Instance) =>
    state === 'draining'
      ? !deps.instanceTasks.isRemoving(id)
      : state === 'once' && !isOnceWanted(deps, id)
  const left = listInstancesOf(deps.db, kind).filter(
    (instance) => isLeft(instance) && !deps.engines.isAway(instance),
  )
  return new Set(left.map(({ workloadId }) => workloadId))
}

/**
 * Handles containers that aren't in the database. Leftovers of a roll-out are removed. A service's container
 * that is newer than this database's backup is adopted.
 */
async function settleStrays(deps: RuntimeDeps, workload: WorkloadKey) {
  const { db, engines, instanceId } = deps
  const labels = filterOf(instanceId, workload)
  const { found: containers } = await engines.reachable((docker) =>
    docker.listContainers({ labels, all: true }),
  )
  const there = new Set(containers.map(({ id }) => id))
  for (const container of containers) {
    const rows = listInstances(db, workload.id)
    const known = [...rows, ...listOnce(db, workload.id)]
    if (known.some((instance) => isContainerOf(instance, container))) continue
    if (workload.kind === 'service' && adopt(deps, workload, { container, there, rows })) continue
    if (isKnown(db, readLabels(container.labels)) && !isRestoring(deps))
      await removeOrLeave(workload, () => stopAndRemove(deps, container))
  }
}

/** Nothing is removed before the restored workloads are reconciled. */
const isRestoring = ({ db }: RuntimeDeps) =>
  [...listSought(db, 'app'), ...listSought(db, 'service')].length > 0

function adopt(
  { db }: RuntimeDeps,
  { id: workloadId }: WorkloadKey,
  {
    container: { id: containerId, serverId, labels },
    there,
    rows,
  }: { container: ContainerSummary; there: Set<string>; rows: Instance[] },
) {
  const component = labels[partLabel] ?? ''
  const release = getLiveRelease(db, workloadId)
  if (!release) return false
  const same = rows.filter((one) => one.component === component && one.releaseId === release.id)
  const vacant = same.find((row) => !there.has(row.containerId ?? ''))
  if (vacant) updateInstance(db, vacant.id, { containerId, serverId })
  return vacant !== undefined
}

/** Inspects one by one: the engine's list may still show a container as running that has just ended. */
async function observe(deps: RuntimeDeps, workload: WorkloadKey) {
  const { db, observed, edge, routing } = deps
  const seen: ObservedInstance[] = []
  for (const known of listLiveInstances(db, workload.id)) {
    const asked = Date.now()
    const { id } = known
    const key = keyOf(known)
    const container = key && (await observed.inspectAt(key))
    const instance = getInstance(db, id)
    // it may have been replaced, or its environment deleted, meanwhile
    if (!instance || !isOfLive(instance) || container === 'away') continue
    const isOutdated = routing.isWellSince(instance, asked)
    const state = isOutdated ? instance.state : stateOf(edge, instance, container)
    if (state !== instance.state) updateInstance(db, id, { state })
    if (edge.isOn && container) place(deps, workload, { instance, container })
    if (container && isUp(container))
      await restoreRestartPolicy(deps, workload, { instance, container })
    seen.push({ instance: { ...instance, state }, container })
  }
  deps.routing.route(workload)
  for (const { instance, container } of seen)
    if (instance.state === 'unhealthy' && container) awaitReturn(deps, workload, instance)
  return seen
}

/**
 * Restores the restart policy of a container that runs. While it was stopped it may have had another one, and during the
 * gate of an interrupted restart it had none, so that a crash ended it.
 */
async function restoreRestartPolicy(
  { db, engines, secrets }: RuntimeDeps,
  { id: workloadId }: WorkloadKey,
  { instance, container }: { instance: Instance; container: Container },
) {
  const components = openComponents(secrets, getLiveRelease(db, workloadId)) ?? []
  const policy = components.find(({ name }) => name === instance.component)?.options.restart
  if (!policy || !isPolicyLent(container.restartPolicy, policy)) return
  try {
    await engines.of(container).setRestartPolicy(container.id, policy)
  } catch (error) {
    report('a container has no restart policy for now', error, { id: container.id })
  }
}

/** Without an edge, a running container is enough. */
function stateOf(
  { isOn }: Pick<RuntimeDeps['edge'], 'isOn'>,
  { state, port }: Pick<Instance, 'state' | 'port'>,
  container: Pick<Container, 'state' | 'health'> | null,
) {
  if (!container || !isUp(container)) return 'stopped'
  if (!isOn || container.state === 'paused') return 'live'
  if (container.state === 'restarting' || container.health === 'unhealthy') return 'unhealthy'
  return state === 'live' || port === null ? 'live' : 'unhealthy'
}

/** Reads details from the container that a restore left unknown. */
function place(
  { db }: RuntimeDeps,
  workload: WorkloadKey,
  { instance: { id, port }, container }: { instance: Instance; container: Container },
) {
  if (workload.kind === 'service') return
  const said = container.env.find((entry) => entry.startsWith('PORT='))?.slice('PORT='.length)
  if (port === null && Number(said) > 0) updateInstance(db, id, { port: Number(said) })
  if (listPlaces(db, workload).find((one) => one.id === id)?.address) return
  const network = ownNetworkOf(db, workload)
  const address = container.addresses[network]
  if (address) adoptAddress(db, { containerId: container.id, network, address })
}
