import { setTimeout as sleep } from 'node:timers/promises'
import { isEngineAway } from '../docker/failures.ts'
import { EngineError, unlessUsed } from '../docker/index.ts'
import type { ContainerKey, Engines } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import type { Belonging } from '../docker/labels.ts'
import { report } from '../platform/journal.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import { isUp, lastFirst } from './workload.ts'
import type { WorkloadKey } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'
import type { StopOptions } from './runtime.ts'
import { neverAborted } from '../platform/pause.ts'

type EngineDeps = Pick<RuntimeDeps, 'engines' | 'serverList' | 'docker' | 'runtime' | 'instanceId'>

/** The kind is container, image, network or volume; callers add their own. */
export type Removed = { kind: string; name: string }

const removals = new KeyedLock()

/** A request and the recovery at startup may both remove the same object. */
export function removeAlone<Result>(id: string, work: () => Promise<Result>) {
  return removals.run(id, neverAborted(), work)
}

/**
 * Removes everything of a project, an environment, a service or the whole installation from the engine,
 * whether it is in the database or not; named volumes only if requested. An environment keeps the network of
 * its project, and what others use stays. Containers whose data stays are stopped gracefully. Repeatable.
 */
export async function removeFromEngine(
  deps: EngineDeps & Pick<RuntimeDeps, 'collector'>,
  {
    kind,
    volumes,
    images = true,
    named = [],
    shared = [],
    ...of
  }: Belonging & {
    kind?: 'app' | 'service'
    volumes: boolean
    images?: boolean
    /** Images to remove that may lack labels, and those that others need. */
    named?: string[]
    shared?: string[]
  },
): Promise<Removed[]> {
  const { docker, instanceId } = deps
  const labels = labelFilter(instanceId, of)
  const removed: Removed[] = []
  // a container that someone started from our image has the image's labels, but another kind
  const own = { labels: labelFilter(instanceId, { ...of, ...(kind && { kind }) }), all: true }
  // a database whose data is deleted has nothing to write; a process may still have a job to finish
  const timeoutSeconds = volumes && kind !== 'app' ? 0 : undefined
  const asked = enginesFor(deps, of, { left: volumes })
  const lists = await Promise.all(asked.map((docker) => docker.listContainers(own)))
  const oldestFirst = lists.flat().reverse()
  await lastFirst({ kind: kind ?? 'service' }, oldestFirst, async (one) => {
    await stopAndRemove(deps, one, { timeoutSeconds })
    removed.push({ kind: 'container', name: one.name })
  })
  for (const docker of asked) {
    const built = images ? await docker.listImages({ labels }) : []
    const names = built.flatMap(({ tags, id }) => (tags.length > 0 ? tags : [id]))
    for (const name of new Set([...names, ...named]))
      if (!shared.includes(name) && (await unlessUsed(docker.removeImage(name))))
        removed.push({ kind: 'image', name })
  }
  if (of.environmentId) removed.push(...(await removeNetworksOf(deps, [of.environmentId])))
  else
    for (const { id, name } of await docker.listNetworks({ labels }))
      if (await removeNetwork(deps, id)) removed.push({ kind: 'network', name })
  for (const docker of volumes ? asked : [])
    for (const { name } of await docker.listVolumes({ labels }))
      if (await unlessUsed(docker.removeVolume(name))) removed.push({ kind: 'volume', name })
  return removed
}

/** The networks that only the containers of one environment share. */
export async function removeNetworksOf(
  deps: Pick<EngineDeps, 'engines' | 'docker' | 'instanceId'>,
  environmentIds: string[],
) {
  const removed: Removed[] = []
  for (const environmentId of environmentIds) {
    const labels = labelFilter(deps.instanceId, { environmentId })
    for (const { id, name } of await deps.docker.listNetworks({ labels }))
      if (await removeNetwork(deps, id)) removed.push({ kind: 'network', name })
  }
  return removed
}

/** Each attempt disconnects the containers that joined the network since the previous one. */
const mostTries = 3

/** Milliseconds in which a swarm hears of what a server removed. */
const newsTime = 1000

/** Disconnects the apps on it first. Returns false when others use it. */
async function removeNetwork(
  { engines, docker, instanceId }: Pick<EngineDeps, 'engines' | 'docker' | 'instanceId'>,
  id: string,
) {
  const apps = { labels: labelFilter(instanceId, { kind: 'app' }) }
  for (let tries = 0; tries < mostTries; tries++) {
    for (const one of listPresent(engines))
      for (const containerId of await one.listJoined(id, apps))
        await one.disconnectNetwork(id, { containerId }).catch((error) => {
          if (!(error instanceof EngineError)) throw error // it was removed or disconnected meanwhile
        })
    if (await unlessUsed(docker.removeNetwork(id))) return true
    if (engines.all.length > 1) await sleep(newsTime)
  }
  return false
}

/** Removes it only when its last lines are stored. */
export async function stopAndRemove(
  { runtime, collector }: Pick<RuntimeDeps, 'runtime' | 'collector'>,
  container: ContainerKey,
  options: StopOptions = {},
) {
  await runtime.stop(container, options)
  await collector.finish(container)
  await runtime.remove(container)
}

/**
 * What can't be removed now keeps nothing else from being done, unless an engine is away: it is told, and tried again
 * later.
 */
export async function removeOrLeave(
  { id }: Pick<WorkloadKey, 'id'>,
  work: () => Promise<unknown>,
  { log }: { log?: ((text: string) => void) | undefined } = {},
) {
  try {
    await work()
  } catch (error) {
    if (isEngineAway(error)) throw error
    report('a container that is left could not be removed yet', error, { workload: id })
    log?.(`A container that is left could not be removed yet: ${(error as Error).message}`)
  }
}

/** Stops a container that is kept, which the engine doesn't start again after a reboot. False for one that is gone. */
export async function stopKept(
  { engines, runtime }: Pick<RuntimeDeps, 'engines' | 'runtime'>,
  key: ContainerKey,
  options: StopOptions = {},
) {
  const container = await engines.inspect(key, options)
  if (!container) return false
  if (container.restartPolicy.name !== 'no')
    await engines.of(key).setRestartPolicy(key.id, { name: 'no' })
  if (isUp(container)) await runtime.stop(key, options)
  return true
}

/** Throws while an engine that has something of it doesn't respond, so that work on it is refused before it starts. */
export const refuseWithoutEngine = (
  deps: Pick<EngineDeps, 'engines' | 'serverList'>,
  of: Belonging,
) => Promise.all(holding(deps, of).map((docker) => docker.info()))

const holding = (
  { engines, serverList }: Pick<EngineDeps, 'engines' | 'serverList'>,
  of: Belonging,
) =>
  [...new Set([engines.all[0].serverId, ...serverList.holding(of)])].map((serverId) =>
    engines.of({ serverId }),
  )

/** Throws when a server with containers of it is away, or one with volumes that a move has left. */
function enginesFor(
  { engines, serverList }: Pick<EngineDeps, 'engines' | 'serverList'>,
  of: Belonging,
  options: { left: boolean },
) {
  for (const serverId of serverList.holding(of, options)) engines.of({ serverId })
  return listPresent(engines)
}

const listPresent = (engines: Engines) => engines.all.filter((docker) => !engines.isAway(docker))

/** Returns the names of those that can be seen. */
export async function volumesOf(
  { engines, instanceId }: Pick<EngineDeps, 'engines' | 'instanceId'>,
  of: Belonging,
) {
  const labels = labelFilter(instanceId, of)
  const { found } = await engines.reachable((docker) => docker.listVolumes({ labels }))
  return found.map(({ name }) => name)
}
