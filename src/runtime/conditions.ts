import { setTimeout as sleep } from 'node:timers/promises'
import type { Container, Docker, EngineEvent, EngineFeed } from '../docker/index.ts'
import { resync } from '../docker/index.ts'
import { Hub } from '../live/hub.ts'
import { ticks } from '../live/ticks.ts'
import { report } from '../platform/journal.ts'
import { calm, CrashCount } from './crash-count.ts'

/** These fields are missing in the engine's list of containers. */
export type Condition = Pick<
  Container,
  'restartCount' | 'exitCode' | 'oomKilled' | 'error' | 'startedAt' | 'finishedAt'
>

/** Containers that are inspected at a time. */
const width = 4

const relevantEvents =
  /^(create|start|die|stop|oom|pause|unpause|restart|rename|update|destroy|health_status.*)$/

/** Caches the condition of each container from the engine's events: a long page inspects none of them. */
export class Conditions {
  readonly crashes = new CrashCount()
  readonly #known = new Map<string, Condition>()
  readonly #changes = new Hub<void>()
  readonly #waiting = new Set<string>()
  #looking: Promise<void> = Promise.resolve()

  /** Returns null for a container that hasn't been inspected yet. */
  of(id: string): Condition | null {
    const known = this.#known.get(id)
    return known ? { ...known, oomKilled: known.oomKilled || this.crashes.ranOut(id) } : null
  }

  /** Calls `wake` when a container was created, removed or changed, until the signal. */
  listen(signal: AbortSignal, wake: () => void) {
    this.#changes.listen('all', signal, { push: wake })
  }

  /** Yields at once and whenever a container changes, as `ticks` does; after 10 s in any case. */
  changes(signal: AbortSignal, { interval = 1000, longest = 10_000 } = {}) {
    return ticks((wake) => this.listen(signal, wake), { signal, interval, longest })
  }

  isLooping(id: string) {
    return this.crashes.isLooping(id, Date.now())
  }

  /** Listens until the signal; `onEvent` gets an event after it was counted. */
  async run(
    { docker, feed }: { docker: Docker; feed: EngineFeed },
    { signal, onEvent }: { signal: AbortSignal; onEvent: (event: EngineEvent) => void },
  ) {
    for await (const event of feed.listen(signal)) {
      if (event === resync) this.#look(signal, () => this.#listAll(docker, signal))
      else if (relevantEvents.test(event.action)) {
        this.crashes.hear(event)
        this.#waiting.add(event.id)
        if (this.isLooping(event.id)) this.#tellWhenCalm(signal)
        onEvent(event)
      } else continue
      this.#look(signal, () => this.#inspectWaiting(docker, signal))
    }
    await this.#looking
  }

  /** Runs one after the other, so that the latest result is kept. */
  #look(signal: AbortSignal, see: () => Promise<unknown>) {
    this.#looking = this.#looking
      .then(see)
      .then(() => this.#changes.publish('all'))
      .catch((error) => {
        if (!signal.aborted) report('containers were not inspected', error)
      })
  }

  async #listAll(docker: Docker, signal: AbortSignal) {
    const containers = await docker.listContainers({ all: true, signal })
    this.#known.clear()
    for (const { id, state } of containers) if (state !== 'created') this.#waiting.add(id)
  }

  #inspectWaiting(docker: Docker, signal: AbortSignal) {
    return Promise.all(
      Array.from({ length: width }, async () => {
        for (const id of this.#waiting) {
          this.#waiting.delete(id)
          const container = await docker.inspectContainer(id, { signal })
          if (container) this.#known.set(id, conditionOf(container))
          else this.#known.delete(id)
        }
      }),
    )
  }

  #tellWhenCalm(signal: AbortSignal) {
    void sleep(calm, undefined, { signal, ref: false }).then(
      () => this.#changes.publish('all'),
      () => {},
    )
  }
}

export const conditionOf = (container: Container): Condition => ({
  restartCount: container.restartCount,
  exitCode: container.exitCode,
  oomKilled: container.oomKilled,
  error: container.error,
  startedAt: container.startedAt,
  finishedAt: container.finishedAt,
})
