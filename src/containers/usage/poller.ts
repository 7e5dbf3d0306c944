import { setTimeout as sleep } from 'node:timers/promises'
import type { LogDb } from '../../db/index.ts'
import type { ContainerUsage, StatsReading } from '../../docker/index.ts'
import { usageBetween } from '../../docker/index.ts'
import { SharedSource } from '../../live/shared-source.ts'
import { report } from '../../platform/journal.ts'
import { sleepUpTo } from '../../platform/pause.ts'
import type { ObservedContainer, ObservedContainers } from '../../runtime/observed-containers.ts'
import { historyNews } from './sample-history.ts'
import type { History } from './sample-history.ts'
import { restingState } from './shown.ts'
import type { Measurement, ShownUsage } from './shown.ts'

/** Milliseconds between two polls of a watched container. */
const usual = 2000

/** Milliseconds between two readings of current usage: shorter ones are noise, longer ones outdated. */
const intervalMs = { least: 200, most: 15_000 }

export type Measured = { reading: StatsReading; usage: ContainerUsage | null }

export type UsageNow = {
  shown: ShownUsage
  /** Only present when its charts must be redrawn. */
  history: History | null
  /** Rendered for all watchers by the first of them. */
  events: Partial<Record<'html' | 'json', Uint8Array>>
}

type PollDeps = { observed: ObservedContainers; logDb: LogDb }

/** Polls the usage of a container while someone watches it, once for all watchers. */
export class UsagePoller {
  readonly #deps: PollDeps
  readonly #watched = new SharedSource<UsageNow>((id, signal) => this.#watch(id, signal))
  readonly #interval: number
  #measured = new Map<string, Measured>()

  constructor(deps: PollDeps, { interval = usual }: { interval?: number | undefined } = {}) {
    this.#deps = deps
    this.#interval = interval
  }

  get size() {
    return this.#watched.size
  }

  /** The usage at the last measurement; null before that. */
  latest(id: string): Measurement | null {
    const measured = this.#measured.get(id)
    return measured?.usage ? { usage: measured.usage, time: measured.reading.readAt } : null
  }

  reading(id: string): StatsReading | null {
    return this.#measured.get(id)?.reading ?? null
  }

  /** Takes over the sampler's measurements, except for watched containers, whose own are newer. */
  remember(measured: Map<string, Measured>) {
    const watched = [...this.#measured].filter(([id]) => this.#watched.isOpen(id))
    this.#measured = new Map([...measured, ...watched])
  }

  follow(id: string, signal: AbortSignal): AsyncIterable<UsageNow> {
    return untilRemoved(this.#watched.follow(id, signal))
  }

  async *#watch(id: string, signal: AbortSignal): AsyncGenerator<UsageNow> {
    const news = historyNews(this.#deps.logDb, id)
    let isAway = false
    while (!signal.aborted) {
      const pause = sleepUpTo(this.#interval, signal)
      try {
        const usage = await this.#poll(id, signal)
        if (usage) yield { shown: { state: 'running', ...usage }, history: news(), events: {} }
        else if (yield* this.#rest(id, signal)) return
        isAway = false
      } catch (error) {
        if (signal.aborted) return
        this.#measured.delete(id)
        if (!isAway) {
          report('the usage of a container was not read', error, { id })
          yield unmeasured('unknown')
        }
        isAway = true
      }
      await pause
    }
  }

  /** Null when it isn't running. */
  async #poll(id: string, signal: AbortSignal) {
    const docker = await this.#deps.observed.engineOf(id, { signal })
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

  /** Publishes its state until it runs again. Returns true when it was removed. */
  async *#rest(id: string, signal: AbortSignal): AsyncGenerator<UsageNow, boolean> {
    this.#measured.delete(id)
    let told: ShownUsage['state'] | undefined
    for await (const seen of this.#deps.observed.follow(id, signal)) {
      const state = stateOf(seen)
      if (!state) return false
      if (state !== told) yield unmeasured(state)
      if (state === 'removed') return true
      told = state
    }
    return true
  }
}

const unmeasured = (state: Exclude<ShownUsage['state'], 'running'>): UsageNow => ({
  shown: { state, time: new Date() },
  history: null,
  events: {},
})

async function* untilRemoved(looks: AsyncIterable<UsageNow>) {
  for await (const look of looks) {
    yield look
    if (look.shown.state === 'removed') return
  }
}

function stateOf(seen: ObservedContainer) {
  if (seen === 'away') return 'unknown'
  return seen ? restingState(seen.state) : 'removed'
}

/** Counters restart with the container. */
function canCompare(before: StatsReading, after: StatsReading) {
  const apart = after.readAt.getTime() - before.readAt.getTime()
  return apart >= intervalMs.least && apart <= intervalMs.most && after.cpuTotal >= before.cpuTotal
}
