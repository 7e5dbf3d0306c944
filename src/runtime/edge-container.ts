import { setTimeout as sleep } from 'node:timers/promises'
import { createReadStream, existsSync, rmSync } from 'node:fs'
import {
  certificatesInside,
  edgeContainer,
  folderVolume,
  image,
  refuseOldCaddy,
  restoredCertificates,
} from '../edge/container.ts'
import type { Edge } from '../edge/edge.ts'
import type { Engine } from '../edge/own.ts'
import { adminSocket } from '../edge/plan.ts'
import { EngineError, resync } from '../docker/index.ts'
import type { ContainerSummary, EngineFeed } from '../docker/index.ts'
import { labelFilter, labelsFor, readLabels } from '../docker/labels.ts'
import { isStatus } from '../docker/refusals.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { KeyedLock } from '../platform/semaphore.ts'
import type { RuntimeDeps } from './deps.ts'

/** Its value is a hash of the settings; a container with another hash is replaced. */
const madeLabel = 'davit.edge'

type EdgeDeps = Pick<RuntimeDeps, 'docker' | 'instanceId'>

const locks = new KeyedLock()

/** Runs the edge's Caddy in a container. */
export const edgeEngine = (deps: EdgeDeps): Engine => ({
  async look({ signal }) {
    const { docker } = deps
    const apart = await docker.whyApart({ signal })
    if (apart) return { ...nothing, apart }
    const [{ folder }, edges, hasImage] = await Promise.all([
      docker.machine({ signal }),
      listEdges(deps, signal),
      docker.hasImage(image, { signal }),
    ])
    // in a container with the engine's socket, Davit's files aren't on the engine's machine
    const isContained = !existsSync(folder)
    return { ...nothing, isContained, isRunning: edges.some(holdsPorts), hasImage }
  },
  async pull({ signal }) {
    for await (const _ of deps.docker.pullImage(image, { signal })) continue
  },
  async ensure(options) {
    return { version: await versionIn(deps, await ensureEdgeContainer(deps, options), options) }
  },
  remove: (options) => removeEdgeContainer(deps, options),
})

const nothing = { apart: null, isContained: false, isRunning: false, hasImage: false }

const holdsPorts = ({ state }: ContainerSummary) => state === 'running' || state === 'paused'

/**
 * Makes this installation's Caddy run, from a local image: a missing container is created, a stopped one is
 * started, one of an earlier version of Davit is replaced. Returns the container's id. Throws a Failure when
 * the image is too old; then there is no container.
 */
export const ensureEdgeContainer = (
  deps: EdgeDeps,
  { folder, signal }: { folder: string | null; signal: AbortSignal },
): Promise<string> =>
  locks.run(lockOf(deps), signal, async () => {
    const { docker, instanceId } = deps
    const { cpus, memoryBytes } = await docker.machine({ signal })
    const volume = edgeVolume(instanceId)
    const settings = edgeContainer({ folder, volume, cpus, memoryBytes })
    const made = new Bun.CryptoHasher('sha256').update(JSON.stringify(settings)).digest('hex')
    const labels = labelsFor({ instanceId, kind: 'edge', ownerId: '' })
    let kept: ContainerSummary | null = null
    for (const found of await listEdges(deps, signal))
      if (!kept && found.labels[madeLabel] === made) kept = found
      else await remove(deps, found.id)
    const restored = folder === null ? null : restoredCertificates(folder)
    if (kept?.state === 'created') await putCertificates(deps, kept.id, { restored, signal })
    if (kept && restored) rmSync(restored, { force: true }) // a container that has run has newer ones
    if (kept && (await startAgain(deps, kept, { folder, signal }))) return kept.id
    for (const name of folder === null ? [volume, folderVolume(volume)] : [volume])
      await docker.createVolume({ name, labels })
    const id = await docker.createContainer({
      ...settings,
      name: `${settings.name}-${instanceId.slice(-12)}`,
      network: 'host',
      labels: { ...labels, [madeLabel]: made },
    })
    try {
      await putCertificates(deps, id, { restored, signal })
      if (restored) rmSync(restored, { force: true })
      await docker.startContainer(id)
      refuseOldCaddy((await versionIn(deps, id, { signal })) ?? '')
      return id
    } catch (error) {
      await docker.removeContainer(id, { force: true, volumes: true })
      throw error
    }
  })

/** Returns true when it runs. One that can't be started is removed. */
async function startAgain(
  deps: EdgeDeps,
  { id, state }: ContainerSummary,
  { folder, signal }: { folder: string | null; signal: AbortSignal },
) {
  // without its admin socket it can't be configured, and must restart
  if (state === 'running' && (!folder || (await appears(adminSocket(folder), signal)))) return true
  try {
    // a paused or restarting container ignores a start
    if (state !== 'created' && state !== 'exited')
      await deps.docker.restartContainer(id, { timeoutSeconds: 1, signal })
    else await deps.docker.startContainer(id)
    return true
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    await remove(deps, id)
    return false
  }
}

/** Copies the certificates of a backup; without them Caddy would request new ones. */
async function putCertificates(
  { docker }: EdgeDeps,
  id: string,
  { restored, signal }: { restored: string | null; signal: AbortSignal },
) {
  if (!restored || !existsSync(restored)) return
  const tar = createReadStream(restored)
  try {
    await docker.putTar(id, { path: certificatesInside.path, tar, signal })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    report('the certificates of the backup couldn’t be restored', error)
  }
}

/**
 * Yields the certificates and accounts of our Caddy, or what is `below` there, as a tar archive. Throws a Failure
 * when it has none.
 */
export async function* readCertificates(
  deps: EdgeDeps,
  { below = '', signal }: { below?: string; signal: AbortSignal },
) {
  const { path, name } = certificatesInside
  const [container] = await listEdges(deps, signal)
  if (!container) throw noCertificates()
  try {
    yield* deps.docker.readArchive(container.id, { path: `${path}/${name}${below}`, signal })
  } catch (error) {
    throw isStatus(error, 404) ? noCertificates() : error
  }
}

const noCertificates = () =>
  new Failure(
    'no_certificates',
    'There are no certificates to back up: Davit doesn’t run Caddy here, or it has none yet.',
    'Leave out --certificates. Your own Caddy stores its certificates itself.',
  )

/** Milliseconds that a Caddy may take to listen after its start. */
const listenTime = 2000

async function appears(path: string, signal: AbortSignal) {
  const end = performance.now() + listenTime
  while (!existsSync(path)) {
    if (performance.now() > end) return false
    await sleep(20, undefined, { signal })
  }
  return true
}

/** Keeps its certificates. */
export const removeEdgeContainer = (
  deps: EdgeDeps,
  { signal, graceSeconds }: { signal: AbortSignal; graceSeconds?: number },
) =>
  locks.run(lockOf(deps), signal, async () => {
    for (const { id } of await listEdges(deps, signal)) await remove(deps, id, graceSeconds)
  })

/** The id of the container; null when there is none. */
export const findEdgeContainer = async (deps: EdgeDeps, { signal }: { signal: AbortSignal }) =>
  (await listEdges(deps, signal))[0]?.id ?? null

export const edgeVolume = (instanceId: string) => `davit-${instanceId}-edge`

const lockOf = ({ docker, instanceId }: EdgeDeps) => `${instanceId} ${docker.serverId}`

/** Inspects each, since the engine's list may have outdated states. */
async function listEdges({ docker, instanceId }: EdgeDeps, signal: AbortSignal) {
  const labels = labelFilter(instanceId, { kind: 'edge' })
  const listed = await docker.listContainers({ labels, all: true, signal })
  const found = await Promise.all(listed.map(({ id }) => docker.inspectContainer(id, { signal })))
  return listed.flatMap((edge, at) => (found[at] ? { ...edge, state: found[at].state } : []))
}

/** No log collector stores the output of an edge. */
async function remove({ docker }: EdgeDeps, id: string, timeoutSeconds?: number) {
  await docker.stopContainer(id, { timeoutSeconds })
  await docker.removeContainer(id, { force: true, volumes: true })
}

/** Such as `2.11.4`; null when unknown. */
async function versionIn({ docker }: EdgeDeps, id: string, { signal }: { signal: AbortSignal }) {
  try {
    const { output } = await docker.runInContainer(id, { command: ['caddy', 'version'], signal })
    return /\d+(\.\d+)+/.exec(output)?.[0] ?? null
  } catch (error) {
    if (error instanceof EngineError) return null // it isn't running now
    throw error
  }
}

type Watched = Pick<RuntimeDeps, 'instanceId'> & {
  feed: EngineFeed
  edge: Pick<Edge, 'invalidate' | 'sync' | 'rejected'>
}

/** Events after which a container no longer works. */
const ends = ['die', 'pause', 'destroy']

/**
 * Makes the edge check when its container ends, or another one that may have used a port that the edge needs.
 * Ends with the signal.
 */
export async function watchEdge(
  { feed, edge, instanceId }: Watched,
  { signal }: { signal: AbortSignal },
) {
  for await (const event of feed.listen(signal)) {
    if (event === resync || !ends.includes(event.action)) continue
    const labels = readLabels(event.attributes)
    if (labels.kind === 'edge' && labels.instanceId === instanceId) edge.invalidate()
    else if (edge.rejected.length > 0) void edge.sync()
  }
}
