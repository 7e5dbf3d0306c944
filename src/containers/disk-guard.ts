import { recordEvent } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { unlessFull } from '../db/failures.ts'
import type { Docker, UsedContainer } from '../docker/index.ts'
import { isAlmostFull, leastFree } from '../platform/disk-space.ts'
import type { DiskSpace } from '../platform/disk-space.ts'
import { journal, report } from '../platform/journal.ts'
import { firstServer } from '../platform/root.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { emit } from '../notifications/emit.ts'
import { diskLow, stoppedForDisk } from '../notifications/texts.ts'
import { stopContainer } from '../runtime/act.ts'
import { diskFilled } from '../runtime/crash-count.ts'
import { nameOf } from '../servers/store.ts'
import { bytes } from '../web/units.ts'
import { diskSpace } from './clean-up/disk.ts'
import { eventPlace, placeContainers } from './place.ts'
import type { OwnPlace } from './place.ts'
import { setServiceStopped, setStopReason } from './store.ts'
import type { StopReason } from './store.ts'

type GuardDeps = {
  db: Db
  docker: Docker
  config: Config
  instanceId: string
  serverEngines: { disks: ReadonlyMap<string, DiskSpace> }
}

/** Bytes by container id or volume name. */
type Sizes = Map<string, number>
type Measured = { at: number; free: number; sizes: Sizes; containers: UsedContainer[] }

/** Milliseconds between two checks of the free space, which cost nothing. */
const interval = 2_000

/** Bytes written since the last measurement that trigger the next one: it walks all data on the disk. */
const step = 64 * 2 ** 20

/** Milliseconds after which a completely full disk is measured again, and one whose measurement failed. */
const again = 30_000

/** Bytes that a container must have written to count as the one that fills the disk. */
const leastWritten = 32 * 2 ** 20

/** The stop timeout in seconds: short, because it may keep writing. */
const grace = 5

/** With fewer free bytes the largest writer is stopped: Davit and all databases need them to work. */
const diskFloor = (disk: { size: number }) => leastFree(disk) / 2

/**
 * Stops the container that fills the disk before it is full for everyone: the one of an app, run or
 * service that wrote most since the last measurement, to its own layer or to its volumes.
 */
export class DiskGuard {
  readonly #deps: GuardDeps
  /** The reasons for its stops by container id, for what reports their end. */
  readonly #reasons = new Map<string, StopReason>()
  #before: Measured | null = null
  #notBefore = 0
  /** By server, as soon as its disk was measured. */
  readonly #isLow = new Map<string, boolean>()
  /** Replaced by tests. */
  space: () => Promise<DiskSpace | null>

  constructor(deps: GuardDeps) {
    this.#deps = deps
    this.space = () => diskSpace(deps)
  }

  run(scheduler: Scheduler, { signal }: { signal: AbortSignal }) {
    const failed = 'what fills the disk was not measured'
    return scheduler.repeat(interval, () => this.look({ signal }), { signal, failed })
  }

  reasonOf(containerId: string) {
    return this.#reasons.get(containerId) ?? null
  }

  async look({ signal }: { signal: AbortSignal }) {
    const space = await this.space()
    if (space) this.#note(firstServer, space)
    for (const [id, disk] of this.#deps.serverEngines.disks)
      if (id !== firstServer) this.#note(id, disk)
    if (!space || space.free >= leastFree(space)) {
      this.#before = null
      return
    }
    const before = this.#before
    const at = performance.now()
    const isFull = space.free < step && (!before || at - before.at > again)
    if (before && before.free - space.free < step && !isFull) return
    if (at < this.#notBefore) return
    this.#notBefore = at + again // unless it can be measured
    const now = (this.#before = { at, free: space.free, ...(await this.#measure(signal)) })
    this.#notBefore = 0
    if (space.free >= diskFloor(space)) return
    const largest = largestWriter(before, now, before ? leastWritten : diskFloor(space) / 2)
    if (largest) await this.#stop(largest, space.free)
  }

  /** Tells admins once when a disk gets almost full, and when it isn't any more. */
  #note(id: string, space: DiskSpace) {
    const isLow = isAlmostFull(space)
    if (isLow === this.#isLow.get(id)) return
    const { db } = this.#deps
    const server = id === firstServer ? undefined : nameOf(db, id)
    const news = diskLow({ ...space, needed: leastFree(space) }, { isOver: !isLow, server })
    const of = id === firstServer ? 'disk_low' : `disk_low ${id}`
    unlessFull(() => {
      const at = { subject: server ?? 'the server', href: '/settings/prune', of }
      db.transaction((tx) => emit(tx, { ...at, ...news }))
      this.#isLow.set(id, isLow)
    })
  }

  async #measure(signal: AbortSignal) {
    const { containers, volumes } = await this.#deps.docker.diskUse({ signal })
    const there = new Set(containers.map(({ id }) => id))
    for (const id of this.#reasons.keys()) if (!there.has(id)) this.#reasons.delete(id)
    const sizes = new Map(volumes.map(({ name, size }) => [name, size ?? 0]))
    for (const { id, size } of containers) sizes.set(id, size)
    const placeOf = placeContainers(this.#deps, containers)
    const mayStop = containers.filter((container) => {
      const place = placeOf(container)
      return container.state === 'running' && place.kind === 'own' && place.owner !== null
    })
    return { sizes, containers: mayStop }
  }

  async #stop({ container, written }: Writer, free: number) {
    const { db, docker } = this.#deps
    const { id, name } = container
    const place = placeContainers(this.#deps, [container])(container) as OwnPlace
    const reason: StopReason = {
      code: diskFilled,
      message: `It had written ${bytes(written)} when only ${bytes(free)} of the server’s disk were free. Davit stopped it.`,
      hint: 'Make it write less, or free some space: an admin can see what uses it under Settings, Clean-up. Then start it again.',
    }
    this.#reasons.set(id, reason)
    journal.warn('a container that filled the disk was stopped', {
      container: id,
      name,
      written,
      free,
    })
    unlessFull(() => {
      setStopReason(db, id, reason)
      if (place.service) setServiceStopped(db, place.service.id, reason)
      const about = eventPlace(place)
      if (about) emit(db, { ...about, ...stoppedForDisk({ ...about, ...reason }) })
      recordEvent(db, {
        actor: { id: null, email: 'the watch over the disk' },
        action: 'container.stopped',
        object: { kind: 'container', id, name },
        details: { written: bytes(written), free: bytes(free) },
      })
    })
    await stopContainer(docker, container, { timeoutSeconds: grace }).catch((error) =>
      report('a container that filled the disk was not stopped', error, { container: id }),
    )
  }
}

type Writer = { container: UsedContainer; written: number }

/** Without an earlier measurement only writable layers count: a large volume may be old data. */
function largestWriter(
  before: Measured | null,
  { sizes, containers }: Measured,
  least: number,
): Writer | null {
  const grown = (key: string, ifNew: number) =>
    (sizes.get(key) ?? 0) - (before ? (before.sizes.get(key) ?? 0) : ifNew)
  const writers = containers.map((container) => ({
    container,
    written: Math.max(
      grown(container.id, 0),
      ...container.volumes.map((volume) => grown(volume, sizes.get(volume) ?? 0)),
    ),
  }))
  const [largest] = writers.toSorted((a, b) => b.written - a.written)
  return largest && largest.written >= least ? largest : null
}
