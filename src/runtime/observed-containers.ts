import { setTimeout as sleep } from 'node:timers/promises'
import type {
  Container,
  ContainerKey,
  Docker,
  EngineEvent,
  EngineFeed,
  Engines,
} from '../docker/index.ts'
import { resync } from '../docker/index.ts'
import { isEngineSilent } from '../docker/failures.ts'
import { Hub } from '../live/hub.ts'
import { SharedSource } from '../live/shared-source.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { sleepUpTo } from '../platform/pause.ts'
import { whileAlive } from '../docker/while-alive.ts'
import { ContainerLists } from './container-lists.ts'
import { calm, CrashCount } from './crash-count.ts'

/** These fields are missing in the engine's list of containers. */
const unlisted = [
  ...(['state', 'restartCount', 'exitCode', 'oomKilled'] as const),
  ...(['error', 'startedAt', 'finishedAt', 'restartPolicy'] as const),
]

export type Condition = Pick<Container, (typeof unlisted)[number]>

/** Null when it was removed, `away` while the engine is unreachable. */
export type ObservedContainer = Container | null | 'away'

/** Inspections of a container that keeps changing. */
const mostTries = 3

/** Containers that are inspected at a time. */
const width = 4

/** Milliseconds before an unreachable engine is retried: no event reports its return. */
const retryDelay = 2000

const relevantEvents =
  /^(create|start|die|stop|oom|pause|unpause|restart|rename|update|destroy|health_status.*)$/

/**
 * What is known of the engine's containers. Kept current by its events, and read again whenever some may have
 * been missed; each inspection by anyone counts, unless a later one has returned before it or an event came meanwhile.
 */
export class ObservedContainers {
  readonly crashes = new CrashCount()
  readonly #engines: Engines
  /** By container. */
  readonly #servers = new Map<string, string>()
  /** Null for one that was removed, as long as an earlier inspection of it hasn't returned. */
  readonly #known = new Map<string, { turn: number; condition: Condition | null }>()
  /** How many inspections of a container haven't returned. */
  readonly #open = new Map<string, number>()
  /** The turn at the last event about a container. */
  readonly #heard = new Map<string, number>()
  readonly #changes = new Hub<void>()
  readonly #seen = new Hub<ObservedContainer>()
  readonly #followed = new SharedSource((id, signal) => this.#observe(id, signal))
  readonly #asked = new Map<string, Promise<Container | null>>()
  readonly #waiting = new Set<string>()
  readonly #lists = new ContainerLists(() => this.#changes.publish('all'))
  #isHearing = false
  #onInspected: (container: Container) => void = () => {}
  #turn = 0
  #looking: Promise<void> = Promise.resolve()

  constructor(engines: Engines) {
    this.#engines = engines
  }

  /** Null when it doesn't exist. Inspects it again when something happened to it meanwhile. */
  async inspect(id: string, options: { signal?: AbortSignal } = {}) {
    this.#open.set(id, (this.#open.get(id) ?? 0) + 1)
    try {
      return await this.#inspectNow(id, options)
    } finally {
      const open = this.#open.get(id)! - 1
      if (open > 0) this.#open.set(id, open)
      else {
        this.#open.delete(id)
        if (this.#known.get(id)?.condition === null)
          for (const map of [this.#known, this.#servers]) map.delete(id)
      }
    }
  }

  /** `away` while the engine of another server doesn’t respond, whose return is reported. */
  async inspectAt({ id, serverId }: ContainerKey, options: { signal?: AbortSignal } = {}) {
    this.#servers.set(id, serverId)
    return this.inspect(id, options).catch((error) => {
      if (serverId === this.#engines.all[0].serverId || !isEngineSilent(error)) throw error
      this.#seen.publish(id, 'away')
      return 'away' as const
    })
  }

  /** Docker of the server that a container runs on. */
  async engineOf(id: string, options: { signal?: AbortSignal } = {}) {
    const { all } = this.#engines
    const known = all.length > 1 ? this.#servers.get(id) : all[0].serverId
    const serverId = known ?? (await this.#engines.find(id, options))?.serverId
    return serverId ? this.#engines.of({ serverId }) : all[0]
  }

  /** For pages. */
  list(docker: Docker, options: { labels?: string[]; signal?: AbortSignal | undefined } = {}) {
    const isOwn = docker.serverId === this.#engines.all[0].serverId
    if (isOwn || !this.#isHearing) return docker.listContainers({ all: true, ...options })
    return this.#lists.of(docker)
  }

  async #inspectNow(id: string, options: { signal?: AbortSignal }) {
    let turn = 0
    let container: Container | null = null
    for (let tries = 0; tries < mostTries; tries++) {
      turn = ++this.#turn
      const serverId = this.#servers.get(id)
      container = await (serverId
        ? this.#engines.of({ serverId }).inspectContainer(id, options)
        : this.#engines.find(id, options))
      if (turn > (this.#heard.get(id) ?? 0)) break
    }
    if (container) this.#servers.set(id, container.serverId)
    if (turn < (this.#known.get(id)?.turn ?? 0)) return container
    this.#known.set(id, { turn, condition: container && conditionOf(container) })
    this.#seen.publish(id, container)
    if (container) this.#onInspected(container)
    return container
  }

  /** Returns null for a container that hasn't been inspected yet. */
  condition(id: string): Condition | null {
    const known = this.#known.get(id)?.condition
    return known ? { ...known, oomKilled: known.oomKilled || this.crashes.ranOut(id) } : null
  }

  isLooping(id: string) {
    return this.crashes.isLooping(id, Date.now())
  }

  /** The last known state if someone follows it; else concurrent callers share one request. */
  look(id: string): Promise<Container | null> {
    const seen = this.#followed.latest(id)
    if (seen && seen !== 'away') return Promise.resolve(seen)
    const asked =
      this.#asked.get(id) ?? this.#inspectAlive(id).finally(() => this.#asked.delete(id))
    this.#asked.set(id, asked)
    return asked
  }

  async #inspectAlive(id: string) {
    return whileAlive(await this.engineOf(id), this.inspect(id))
  }

  /** Yields the current state and then each change; null comes last. */
  follow(id: string, signal: AbortSignal): AsyncIterable<ObservedContainer> {
    return this.#followed.follow(id, signal)
  }

  async *#observe(id: string, signal: AbortSignal): AsyncGenerator<ObservedContainer> {
    const seen = this.#seen.newest(id, signal)
    for (let tries = 0; ; tries++)
      try {
        await this.inspect(id, { signal })
        break
      } catch (error) {
        if (signal.aborted) return
        if (tries === 0) {
          if (!(error instanceof Failure))
            report('a container could not be inspected', error, { id })
          yield 'away'
        }
        await sleepUpTo(retryDelay, signal)
      }
    for await (const container of seen) {
      yield container
      if (container === null) return
    }
  }

  /** Calls `wake` when a container was created, removed or changed, until the signal. */
  listen(signal: AbortSignal, wake: () => void) {
    this.#changes.listen('all', signal, { push: wake })
  }

  /** Listens until the signal; `onEvent` gets an event after it was counted, `onInspected` each newest state. */
  async run(
    feed: EngineFeed,
    {
      signal,
      onEvent,
      onInspected = () => {},
    }: {
      signal: AbortSignal
      onEvent: (event: EngineEvent) => void
      onInspected?: (container: Container) => void
    },
  ) {
    this.#onInspected = onInspected
    this.#isHearing = true
    for await (const event of feed.listen(signal)) {
      this.#lists.hear(event)
      if (event === resync) this.#inspect(signal, () => this.#listAll(signal))
      else if (relevantEvents.test(event.action)) {
        this.crashes.hear(event)
        this.#servers.set(event.id, event.serverId)
        if (event.action === 'destroy') this.#heard.delete(event.id)
        else this.#heard.set(event.id, ++this.#turn)
        this.#waiting.add(event.id)
        if (this.isLooping(event.id)) this.#lookWhenCalm(event.id, signal)
        onEvent(event)
        this.#inspect(signal)
      }
    }
    await this.#looking
  }

  /** Runs one after the other. If the engine doesn't respond, everything is read again when it does. */
  #inspect(signal: AbortSignal, list: () => Promise<void> = async () => {}) {
    this.#looking = this.#looking
      .then(list)
      .then(() => this.#inspectWaiting(signal))
      .then(() => this.#changes.publish('all'))
      .catch((error) => {
        if (signal.aborted) return
        report('containers were not inspected', error)
        for (const id of this.#followed.keys()) this.#seen.publish(id, 'away')
        const again = () => this.#inspect(signal, () => this.#listAll(signal))
        void sleep(retryDelay, undefined, { signal, ref: false }).then(again, () => {})
      })
  }

  async #listAll(signal: AbortSignal) {
    const { found: containers, away } = await this.#engines.reachable((docker) =>
      docker.listContainers({ all: true, signal }),
    )
    const isHere = new Set(this.#engines.all.map(({ serverId }) => serverId))
    const looked = [...this.#followed.keys()].filter((id) =>
      isHere.has(this.#servers.get(id) ?? ''),
    )
    const kept = new Set([...looked, ...containers.map(({ id }) => id)])
    for (const { id, serverId } of containers) this.#servers.set(id, serverId)
    for (const map of [this.#known, this.#heard, this.#servers])
      for (const id of map.keys())
        if (!kept.has(id) && !away.has(this.#servers.get(id) ?? '')) map.delete(id)
    for (const id of looked) this.#waiting.add(id)
    for (const { id, state } of containers) if (state !== 'created') this.#waiting.add(id)
  }

  /** One whose server isn’t known was removed, or those who follow it are looking for it. */
  #inspectWaiting(signal: AbortSignal) {
    return Promise.all(
      Array.from({ length: width }, async () => {
        for (const id of this.#waiting) {
          this.#waiting.delete(id)
          const serverId = this.#servers.get(id)
          if (serverId) await this.inspectAt({ id, serverId }, { signal })
        }
      }),
    )
  }

  #lookWhenCalm(id: string, signal: AbortSignal) {
    const look = () => {
      this.#waiting.add(id)
      this.#inspect(signal)
    }
    void sleep(calm, undefined, { signal, ref: false }).then(look, () => {})
  }
}

export const conditionOf = (container: Container) =>
  Object.fromEntries(unlisted.map((name) => [name, container[name]])) as Condition
