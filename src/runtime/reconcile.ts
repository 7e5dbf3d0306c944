import { listRestored } from '../db/restored.ts'
import type { Container, ContainerSummary, Docker } from '../docker/index.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import { listOnce } from './once-store.ts'
import { findContainer, isContainerOf, revertInterrupted } from './revert.ts'
import { stopAndRemove } from './remove.ts'
import { isWanted, removeOnce } from './run-once.ts'
import {
  getLiveRelease,
  insertInstance,
  isKnown,
  listInstances,
  listInstancesOf,
  listLiveInstances,
  listRollingOut,
  updateInstance,
} from './store.ts'
import type { Instance } from './store.ts'
import { filterOf, isUp, lastFirst, stopTimeout } from './workload.ts'
import type { RuntimeDeps, WorkloadKey } from './workload.ts'

/** A container of the live release; null where it was removed. */
export type Seen = { instance: Instance; container: Container | null }

type Work = { locks: KeyedLock; rollingOut: Set<string> }

/** What is at work on an engine: one at a time on the containers of a workload. */
const atWork = new WeakMap<Docker, Work>()

function workOn({ docker }: Pick<RuntimeDeps, 'docker'>) {
  const work = atWork.get(docker) ?? { locks: new KeyedLock(), rollingOut: new Set() }
  atWork.set(docker, work)
  return work
}

/** Does work meanwhile `reconcile` leaves the workload alone. */
export function whileRollingOut<Result>(
  deps: Pick<RuntimeDeps, 'docker'>,
  { id }: WorkloadKey,
  signal: AbortSignal,
  work: () => Promise<Result>,
) {
  const { locks, rollingOut } = workOn(deps)
  rollingOut.add(id)
  return locks.run(id, signal, work).finally(() => rollingOut.delete(id))
}

type Options = {
  /** Whether to look for containers that the database doesn't know, too. */
  orphans: boolean
  signal: AbortSignal
}

/**
 * Compares what the database has of a workload with what the engine has, and acts on the difference:
 * an interrupted roll-out is undone, replaced containers and orphans are removed, and an instance
 * of the live release is `live` or `stopped` as its container is. Null while a roll-out is at work.
 * What runs once is left alone while it is wanted.
 */
export async function reconcile(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  { orphans, signal }: Options,
): Promise<Seen[] | null> {
  const { locks, rollingOut } = workOn(deps)
  if (rollingOut.has(workload.id)) return null
  return locks.run(workload.id, signal, async () => {
    await revertInterrupted(deps, { workload, shutdown: signal })
    await removeReplaced(deps, { workload })
    for (const instance of listOnce(deps.db, workload.id))
      if (!isWanted(deps, instance.id)) await removeOnce(deps, { workload, id: instance.id })
    if (orphans) await settleStrays(deps, workload)
    return observe(deps, workload)
  })
}

/** Apps or services for which `reconcile` has something to do, by one look at all containers. */
export async function listDifferent(
  deps: RuntimeDeps,
  kind: WorkloadKey['kind'],
  { signal }: { signal: AbortSignal },
): Promise<Set<string>> {
  const { db, docker, instanceId } = deps
  const labels = labelFilter(instanceId, { kind })
  const containers = await docker.listContainers({ labels, all: true, signal })
  const states = new Map(containers.map((container) => [container.id, stateOf(container)]))
  const held = listInstancesOf(db, kind)
  const known = new Set(held.map(({ containerId }) => containerId))
  return new Set([
    ...listRollingOut(db, kind),
    ...held.flatMap((instance) => {
      const { workloadId, containerId, state } = instance
      const isAsItIs =
        state === 'once'
          ? isWanted(deps, instance.id)
          : state === (states.get(containerId ?? '') ?? 'stopped')
      return isAsItIs ? [] : workloadId
    }),
    ...containers.flatMap(({ id, labels }) => {
      const { environmentId, serviceId } = readLabels(labels)
      return known.has(id) ? [] : environmentId || serviceId || []
    }),
  ])
}

/** Stops and removes the containers of releases that were replaced. */
export async function removeReplaced(deps: RuntimeDeps, { workload }: { workload: WorkloadKey }) {
  const replaced = listInstances(deps.db, workload.id).filter(({ state }) => state === 'draining')
  await lastFirst(workload, replaced, async (instance) => {
    const containerId = await findContainer(deps, workload, instance)
    if (containerId) await stopAndRemove(deps, containerId, stopTimeout(workload))
    updateInstance(deps.db, instance.id, { state: 'removed' })
  })
}

/**
 * Containers that the database does not have. What a roll-out left is removed; a service's container
 * that an earlier version made, or one that came after the backup of this database, is adopted.
 */
async function settleStrays(deps: RuntimeDeps, workload: WorkloadKey) {
  const { db, docker, instanceId } = deps
  const labels = filterOf(instanceId, workload)
  const containers = await docker.listContainers({ labels, all: true })
  const there = new Set(containers.map(({ id }) => id))
  for (const container of containers) {
    const rows = listInstances(db, workload.id)
    const known = [...rows, ...listOnce(db, workload.id)]
    if (known.some((instance) => isContainerOf(instance, container))) continue
    if (workload.kind === 'service' && adopt(deps, workload, { container, there, rows })) continue
    if (isKnown(db, readLabels(container.labels)) && !isRestoring(deps))
      await stopAndRemove(deps, container.id, stopTimeout(workload))
  }
}

/** What a backup brought back is looked for first. */
const isRestoring = ({ db }: RuntimeDeps) =>
  [...listRestored(db, 'deployment'), ...listRestored(db, 'service')].length > 0

function adopt(
  { db }: RuntimeDeps,
  { id: workloadId }: WorkloadKey,
  {
    container: { id: containerId, labels },
    there,
    rows,
  }: { container: ContainerSummary; there: Set<string>; rows: Instance[] },
) {
  const component = labels[partLabel] ?? ''
  const release = getLiveRelease(db, workloadId)
  if (!release) return false
  const same = rows.filter((one) => one.component === component && one.releaseId === release.id)
  const vacant = same.find((row) => !there.has(row.containerId ?? ''))
  if (vacant) updateInstance(db, vacant.id, { containerId })
  else if (same.length > 0 || release.components !== null) return false
  else
    insertInstance(db, { releaseId: release.id, workloadId, component, containerId, state: 'live' })
  return true
}

/** One by one: when a container has just ended, the engine's list still says that it runs. */
async function observe({ db, docker }: RuntimeDeps, { id }: WorkloadKey) {
  const seen: Seen[] = []
  for (const instance of listLiveInstances(db, id)) {
    const { containerId } = instance
    const container = containerId ? await docker.inspectContainer(containerId) : null
    const state = stateOf(container)
    if (state !== instance.state) updateInstance(db, instance.id, { state })
    seen.push({ instance: { ...instance, state }, container })
  }
  return seen
}

const stateOf = (container: Pick<Container, 'state'> | null) =>
  container && isUp(container) ? 'live' : 'stopped'
