import { setTimeout as sleep } from 'node:timers/promises'
import type { LogDb } from '../../db/index.ts'
import type { ContainerUsage, Docker, EngineFeed, StatsReading } from '../../docker/index.ts'
import { resync, usageBetween } from '../../docker/index.ts'
import { report } from '../../platform/journal.ts'
import { Hub } from '../../live/hub.ts'
import { UsageEvent } from './event.tsx'
import { HistoryNews } from './sample-history.ts'
import { restingState } from './shown.ts'
import type { Measurement } from './shown.ts'

/** Milliseconds between two polls of a container that is watched. */
const usual = 2000

/** Milliseconds between two readings that tell what is used now: neither noise nor long ago. */
const telling = { least: 200, most: 15_000 }

export type Measured = { reading: StatsReading; usage: ContainerUsage | null }

type PollDeps = { docker: Docker; feed: EngineFeed; logDb: LogDb }

type Watch = { viewers: number; last?: UsageEvent; abort: AbortController }

/** Asks the engine what a container uses while someone watches it, once for all who do. */
export class UsagePoller {
  readonly #deps: PollDeps
  readonly #watches = new Map<string, Watch>()
  readonly #events = new Hub<UsageEvent>()
  readonly #interval: number
  #measured = new Map<string, Measured>()

  constructor(deps: PollDeps, { interval = usual }: { interval?: number | undefined } = {}) {
    this.#deps = deps
    this.#interval = interval
  }

  /** Containers that are watched. */
  get size() {
    return this.#watches.size
  }

  /** What a running container used when it was last looked at; null before that. */
  latest(id: string): Measurement | null {
    const measured = this.#measured.get(id)
    return measured?.usage ? { usage: measured.usage, time: measured.reading.readAt } : null
  }

  /** Takes what was measured of every container that runs; what is watched is known better. */
  remember(measured: Map<string, Measured>) {
    const watched = [...this.#measured].filter(([id]) => this.#watches.has(id))
    this.#measured = new Map([...measured, ...watched])
  }

  /** Watches until the signal; ends when the container is gone. */
  follow(id: string, signal: AbortSignal): AsyncIterable<UsageEvent> {
    const watch = this.#watches.get(id) ?? this.#begin(id)
    watch.viewers++
    // not at the end of the iteration: who stops reading never comes to it
    signal.addEventListener('abort', () => this.#leave(id, watch), { once: true })
    return untilRemoved(this.#events.newest(id, signal, watch.last))
  }

  #begin(id: string) {
    const watch: Watch = { viewers: 0, abort: new AbortController() }
    this.#watches.set(id, watch)
    void this.#watch(id, watch)
    return watch
  }

  #leave(id: string, watch: Watch) {
    watch.viewers--
    if (watch.viewers > 0) return
    this.#watches.delete(id)
    watch.abort.abort()
  }

  async #watch(id: string, watch: Watch) {
    const { signal } = watch.abort
    const news = new HistoryNews(this.#deps.logDb, id)
    let isAway = false
    while (!signal.aborted) {
      const pause = sleep(this.#interval, undefined, { signal }).catch(() => {})
      try {
        const usage = await this.#poll(id, signal)
        if (usage)
          this.#tell(id, watch, new UsageEvent({ state: 'running', ...usage }, news.read()))
        else if (!(await this.#rest(id, watch))) return
        isAway = false
      } catch (error) {
        if (signal.aborted) return
        if (!isAway) {
          report('the use of a container was not read', error, { id })
          this.#tell(id, watch, new UsageEvent({ state: 'unknown', time: new Date() }))
        }
        isAway = true
      }
      await pause
    }
  }

  /** Null when it does not run. */
  async #poll(id: string, signal: AbortSignal) {
    const { docker } = this.#deps
    let before = this.#measured.get(id)?.reading
    let reading = await docker.containerStats(id, { signal })
    if (reading && !(before && canCompare(before, reading))) {
      before = reading
      await sleep(this.#interval / 2, undefined, { signal })
      reading = await docker.containerStats(id, { signal })
    }
    if (!reading || !before) return null
    this.#measured.set(id, { reading, usage: usageBetween(before, reading) })
    return this.latest(id)
  }

  /** Says how it is until it runs again; false when it is gone. */
  async #rest(id: string, watch: Watch) {
    const { signal } = watch.abort
    const { docker, feed } = this.#deps
    this.#measured.delete(id)
    let told: string | undefined
    for await (const event of feed.listen(signal)) {
      if (event !== resync && event.id !== id) continue
      const container = await docker.inspectContainer(id, { signal })
      const state = container ? restingState(container.state) : 'removed'
      if (!state) return true
      if (state !== told) this.#tell(id, watch, new UsageEvent({ state, time: new Date() }))
      if (!container) return false
      told = state
    }
    return true
  }

  #tell(id: string, watch: Watch, event: UsageEvent) {
    watch.last = event
    this.#events.publish(id, event)
  }
}

async function* untilRemoved(events: AsyncIterable<UsageEvent>) {
  for await (const event of events) {
    yield event
    if (event.shown.state === 'removed') return
  }
}

/** Counters begin anew when the container does. */
function canCompare(before: StatsReading, after: StatsReading) {
  const apart = after.readAt.getTime() - before.readAt.getTime()
  return apart >= telling.least && apart <= telling.most && after.cpuTotal >= before.cpuTotal
}
