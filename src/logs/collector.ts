import { diskFull } from '../db/failures.ts'
import type { Db, LogDb } from '../db/index.ts'
import { resync } from '../docker/index.ts'
import type { Container, Docker, EngineEvent, EngineFeed } from '../docker/index.ts'
import type { ContainerKey, Engines } from '../docker/engines.ts'
import { journal, report } from '../platform/journal.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { Semaphore } from '../platform/semaphore.ts'
import { endsWhileAdvancing, sleepUpTo } from '../platform/pause.ts'
import type { LifecycleEvent } from './container-lifecycle.ts'
import { deleteCursors, getCursor, listCursorsOn } from './cursor-store.ts'
import type { Cursor } from './cursor-store.ts'
import { outputLogOf } from './store.ts'
import { channelOf } from './logs.ts'
import type { Logs } from './logs.ts'
import type { Masks } from './masks.ts'
import { Reader } from './reader.ts'
import { ReadBatches } from './read-batches.ts'

/** Containers that are read at the same time. */
const maxPulls = 4

/** In milliseconds, until the containers are listed again after a failure. */
const retryDelay = 1000

/** As a number, like in the engine's events. */
const sigkill = '9'

/** SIGHUP, SIGUSR1 and SIGUSR2, which usually don't ask a program to end. */
const signalsOfWork = ['1', '10', '12']

type Target = Pick<Container, 'id' | 'name' | 'labels' | 'serverId'>
type CollectorDeps = {
  db: Db
  logDb: LogDb
  engines: Engines
  feed: EngineFeed
  instanceId: string
  masks: Masks
  logs: Logs
}

/** Stores the output of the containers of apps and services, even after their removal. */
export class Collector {
  /** In milliseconds without progress, after which the output of a container that is to be removed is given up. */
  patience = 10_000
  readonly #deps: CollectorDeps
  readonly #readers = new Map<string, Reader>()
  readonly #pulls = new Semaphore(maxPulls)
  /** By log. */
  readonly #readBatches = new Map<string, ReadBatches>()
  /** When the engine was asked to stop and to kill a container. Kept until the engine reports its end. */
  readonly #stops = new Map<string, { asked?: Date; killed?: Date }>()
  #signal: AbortSignal | null = null

  constructor(deps: CollectorDeps) {
    this.#deps = deps
  }

  /** Reads until the signal. Output that is written later is read by the next run. */
  async run({ signal }: { signal: AbortSignal }) {
    this.#signal = signal
    const { feed, instanceId } = this.#deps
    for await (const event of feed.listen(signal))
      if (event === resync) {
        this.#stops.clear()
        await Promise.all(this.#deps.engines.all.map((docker) => this.#look(docker, signal)))
      } else if (readLabels(event.attributes).instanceId === instanceId) this.#heard(event)
    await Promise.all([...this.#readers.values()].map((reader) => reader.done))
  }

  /**
   * For a container that is to be removed: resolves when its output is stored, or when reading it has stopped
   * advancing and its log says that lines may be missing.
   */
  async finish(key: ContainerKey) {
    if (!this.#signal || this.#signal.aborted) return
    const fields = { container: key.id }
    if (this.#deps.logDb.$client.reserve.isGone)
      return report('the last lines of a container could not be stored', diskFull(), fields)
    try {
      const container = await this.#deps.engines.inspect(key)
      const reader = container && this.#read(container, { kind: 'look' })
      if (!reader) return
      const steps = () => this.#stepsOf(reader)
      if (await endsWhileAdvancing(this.patience, reader.catchUp(), steps)) return
      journal.warn('the last lines of a container were not read in time', fields)
      await reader.giveUp()
    } catch (error) {
      report('the last lines of a container were not read', error, fields)
    }
  }

  /** Those of all while others are read before it. */
  #stepsOf(reader: Reader) {
    const read = reader.progress.isQueued ? [...this.#readers.values()] : [reader]
    return read.reduce((sum, { progress }) => sum + progress.steps, 0)
  }

  /** One that fails, such as for a server that is away by now, must not end the reading of all others. */
  #heard(event: EngineEvent) {
    try {
      this.#hear(event)
    } catch (error) {
      report('an event of a container was passed over', error, { container: event.id })
    }
  }

  #hear({ action, id, serverId, attributes, time: at }: EngineEvent) {
    const container = { id, serverId, name: attributes.name ?? '', labels: attributes }
    if (action === 'start') this.#read(container, { kind: 'started', at })
    else if (action === 'oom') this.#tell(id, { kind: 'oom', at })
    else if (action === 'kill') {
      const { signal = sigkill } = attributes
      const asked = this.#stops.get(id)
      if (signal === sigkill) this.#stops.set(id, { ...asked, killed: at })
      else if (!signalsOfWork.includes(signal)) this.#stops.set(id, { asked: at })
    } else if (action === 'die') {
      const exitCode = Number(attributes.exitCode ?? 0)
      const { asked, killed } = this.#stops.get(id) ?? {}
      this.#stops.delete(id)
      const grace = asked && killed && killed.getTime() - asked.getTime()
      this.#tell(id, { kind: 'ended', at, exitCode, isAsked: killed !== undefined, grace })
    } else if (action === 'destroy' && !this.#tell(id, { kind: 'look' }))
      deleteCursors(this.#deps.logDb, [id])
  }

  /** Returns false when no one reads that container. */
  #tell(id: string, news: LifecycleEvent) {
    const reader = this.#readers.get(id)
    if (!reader || reader.closed) return false
    reader.tell(news)
    return true
  }

  /** Starts reading a container unless it is being read; null when its output isn't kept. */
  #read(container: Target, news: LifecycleEvent): Reader | null {
    const { id } = container
    const current = this.#readers.get(id)
    if (current && !current.closed) {
      current.tell(news)
      return current
    }
    const known = getCursor(this.#deps.logDb, id)
    // its server may have been removed since, and added again
    const cursor = known ? { ...known, serverId: container.serverId } : newCursor(container)
    return cursor && this.#open(cursor, { isKnown: known !== undefined, news })
  }

  #open(cursor: Cursor, { isKnown, news }: { isKnown: boolean; news: LifecycleEvent }) {
    const docker = this.#deps.engines.of(cursor)
    const log = outputLogOf(this.#deps.db, cursor)
    const channel = channelOf(log)
    const readBatches = this.#readBatches.get(channel) ?? new ReadBatches(this.#deps, log)
    this.#readBatches.set(channel, readBatches)
    readBatches.readers++
    const signal = this.#deps.engines.untilRemoved(docker, this.#signal!)
    const of = { cursor, isKnown, news, readBatches, pulls: this.#pulls, signal }
    const reader = new Reader({ ...this.#deps, docker }, of)
    this.#readers.set(cursor.containerId, reader)
    void reader.done.then(() => {
      if (--readBatches.readers === 0) this.#readBatches.delete(channel)
      if (this.#readers.get(cursor.containerId) === reader) this.#readers.delete(cursor.containerId)
    })
    return reader
  }

  /** Reads all containers that were ever started, and stops reading removed ones. */
  async #look(docker: Docker, signal: AbortSignal) {
    for (let quiet = false; !signal.aborted; quiet = true)
      try {
        const { engines } = this.#deps
        if (engines.isAway(docker) || !engines.all.includes(docker)) return // its return is reported
        return await this.#lookOnce(docker, signal)
      } catch (error) {
        if (signal.aborted) return
        if (!quiet) report('the containers to read could not be listed', error)
        await sleepUpTo(retryDelay, signal)
      }
  }

  async #lookOnce(docker: Docker, signal: AbortSignal) {
    const { logDb, instanceId } = this.#deps
    const labels = labelFilter(instanceId)
    const found = await docker.listContainers({ labels, all: true, signal })
    // stopped ones too: one may have run again meanwhile
    for (const container of found)
      if (container.state !== 'created') this.#read(container, { kind: 'look' })
    const ids = new Set(found.map(({ id }) => id))
    for (const cursor of listCursorsOn(logDb, docker.serverId)) {
      const { containerId, endedAt } = cursor
      if (ids.has(containerId)) continue
      if (endedAt) deleteCursors(logDb, [containerId])
      else if (!this.#tell(containerId, { kind: 'look' }))
        this.#open(cursor, { isKnown: true, news: { kind: 'look' } })
    }
  }
}

/** Containers of a build have the labels of its Dockerfile, which can have any value. */
const isId = /^[0-9a-f-]{36}$/

/** The start position for a new container; null for one of neither an environment nor a service. */
function newCursor({ id, serverId, name, labels }: Target): Cursor | null {
  const { kind, environmentId, serviceId, deploymentId } = readLabels(labels)
  const sourceId = kind === 'app' ? environmentId : kind === 'service' ? serviceId : ''
  if (!isId.test(sourceId) || (deploymentId && !isId.test(deploymentId))) return null
  const unread = { timestamp: null, ordinal: 0, stream: null, endedAt: null }
  return { containerId: id, serverId, sourceId, deploymentId, name, ...unread }
}
