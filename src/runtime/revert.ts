import { retryOnDiskFull } from '../db/failures.ts'
import type { Tx } from '../db/index.ts'
import type { ContainerKey, ContainerSummary } from '../docker/index.ts'
import { isEngineAway } from '../docker/failures.ts'
import { journal } from '../platform/journal.ts'
import { inStartOrder, openComponents } from './component.ts'
import type { Placed } from './run.ts'
import { endOfName } from './steps/create.ts'
import { stopAndRemove, stopKept } from './remove.ts'
import {
  deleteInstance,
  forgetRelease,
  getLiveRelease,
  getNextReleaseId,
  isWanted,
  keyOf,
  listInstances,
  listStandby,
  updateInstance,
} from './store.ts'
import type { Instance } from './store.ts'
import { Undo } from './undo.ts'
import { filterOf, isUp, lastFirst, networkNameOf } from './workload.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

/** The release didn't become live. */
type Failed = {
  workload: WorkloadKey
  releaseId: string
  shutdown: AbortSignal
  /** Ids of instances whose containers the engine refused to remove. */
  stay: Set<string>
  /** Ids of instances of the release before that it started; null when unknown. Others end their requests first. */
  started: Set<string> | null
}

/** Undoes an interrupted roll-out: the live release runs as it did before. */
export async function revertInterrupted(
  deps: RuntimeDeps,
  { workload, shutdown }: Pick<Failed, 'workload' | 'shutdown'>,
) {
  const { db, docker } = deps
  const releaseId = getNextReleaseId(db, workload.id)
  if (!releaseId) return
  const failed = { workload, releaseId, shutdown, stay: new Set<string>(), started: null }
  const undo = new Undo()
  undo.push('the release could not be removed', () => forget(deps, failed))
  undo.push('the live container did not start', () => startLive(deps, failed))
  undo.push('the new container could not be removed', () => removeNew(deps, failed))
  for (const problem of await undo.run({ docker, shutdown }))
    journal.warn(`an interrupted roll-out: ${problem}`, { workload: workload.id })
}

async function startLive(deps: RuntimeDeps, { workload, shutdown: signal }: Failed) {
  await startDown(deps, { workload, live: listLive(deps, workload), signal })
}

/** Starts those of these containers that are there, but down. */
export async function startDown(
  deps: RuntimeDeps,
  { workload, live, signal }: { workload: WorkloadKey; live: Placed[]; signal: AbortSignal },
) {
  const isDown = (one: Placed) =>
    deps.engines.inspect(one).then(
      (found) => found !== null && !isUp(found),
      () => true, // its start says what is wrong, and others don't wait for that
    )
  const found = await Promise.all(live.map(isDown))
  const down = live.filter((_, at) => found[at])
  if (down.length === 0) return
  const { startAgain } = await import('./steps/start.ts')
  await startAgain({ ...deps, workload, network: networkNameOf(workload), signal }, down)
}

/** Containers of the live release that should run, in the order of their start. */
export const listLive = (deps: RuntimeDeps, workload: WorkloadKey) =>
  placed(deps, workload, listInstances(deps.db, workload.id).filter(isWanted))

/** Those of these instances of the live release that have a container, in the order of their start. */
export function placed(deps: RuntimeDeps, workload: WorkloadKey, instances: Instance[]): Placed[] {
  const components = liveComponents(deps, workload)
  const componentOf = componentIn(deps, workload, components)
  const ordered = components ? inStartOrder(instances, components) : instances
  return ordered.flatMap((instance) => {
    const key = keyOf(instance)
    return key ? { ...key, component: componentOf(instance), instance } : []
  })
}

const liveComponents = ({ db, secrets }: RuntimeDeps, { id }: WorkloadKey) =>
  openComponents(secrets, getLiveRelease(db, id))

/** Finds the component of an instance in the live release. */
export function componentIn(
  deps: RuntimeDeps,
  workload: WorkloadKey,
  components = liveComponents(deps, workload),
) {
  return ({ component }: Pick<Instance, 'component'>) =>
    components?.find(({ name }) => name === component) ?? null
}

/**
 * Stops those of the release before again that it started. Doesn't write to the database, so that the old
 * containers start again even on a full disk.
 */
export async function removeNew(deps: RuntimeDeps, { workload, releaseId, stay, started }: Failed) {
  let refusal: unknown
  const { db, instanceTasks } = deps
  const kept = listStandby(db, workload.id).filter(
    ({ id }) => !instanceTasks.isRemoving(id) && (started === null || started.has(id)),
  )
  const all = [...kept, ...listNew(db, { workload, releaseId })]
  await lastFirst(workload, all, async (instance) => {
    const { id } = instance
    stay.delete(id)
    // it goes once that server is back, for which what is undone next doesn’t wait
    if (deps.engines.isAway(instance)) return void stay.add(id)
    try {
      const found = await findContainer(deps, workload, instance)
      if (found) await (instance.state === 'standby' ? stopKept : stopAndRemove)(deps, found)
    } catch (error) {
      if (!refusal || isEngineAway(error)) refusal = error
      stay.add(id)
    }
  })
  if (refusal) throw refusal
}

/**
 * If the engine's response to the creation was lost, the container is found by its name; never one that
 * belongs to another instance.
 */
export async function findContainer(
  { db, engines, instanceId }: RuntimeDeps,
  workload: WorkloadKey,
  instance: Instance,
): Promise<ContainerKey | undefined> {
  const key = keyOf(instance)
  if (key) return key
  const labels = filterOf(instanceId, workload)
  const containers = await engines.of(instance).listContainers({ labels, all: true })
  const known = new Set(listInstances(db, workload.id).map((one) => one.containerId))
  const isOurs = (found: (typeof containers)[number]) =>
    isContainerOf(instance, found) && !known.has(found.id)
  return containers.find(isOurs)
}

/** Compares the names while the creation hasn't been confirmed. */
export const isContainerOf = (
  { id, containerId }: Pick<Instance, 'id' | 'containerId'>,
  container: Pick<ContainerSummary, 'id' | 'name'>,
) => (containerId ? containerId === container.id : container.name.endsWith(endOfName(id)))

/** Ends the roll-out in the database. `reconcile` handles a remaining container. */
export const forget = async (
  { db }: RuntimeDeps,
  { workload, releaseId, shutdown: signal, stay }: Failed,
) =>
  retryOnDiskFull(
    () =>
      db.transaction((tx) => {
        for (const { id } of listNew(tx, { workload, releaseId }))
          if (stay.has(id)) updateInstance(tx, id, { state: 'draining' })
          else deleteInstance(tx, id)
        forgetRelease(tx, { id: releaseId, workloadId: workload.id })
      }),
    { signal },
  )

const listNew = (db: Tx, { workload, releaseId }: Pick<Failed, 'workload' | 'releaseId'>) =>
  listInstances(db, workload.id).filter(
    (instance) => instance.releaseId === releaseId && instance.state !== 'draining',
  )
