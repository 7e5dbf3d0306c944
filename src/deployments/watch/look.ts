import { setTimeout as sleep } from 'node:timers/promises'
import type { WatchVerdict } from '../../db/schema.ts'
import { resync } from '../../docker/index.ts'
import type { Container } from '../../docker/index.ts'
import { report } from '../../platform/journal.ts'
import { checkHealth } from '../../runtime/check-health.ts'
import { mayEnd } from '../../runtime/component.ts'
import { networkNameOf } from '../../runtime/workload.ts'
import { figuresOf, getWatched, updateWatch } from './store.ts'
import type { Watched } from './store.ts'
import { subjectsOf } from './subjects.ts'
import type { Subject } from './subjects.ts'
import { Ends, Failures, verdictOf } from './verdict.ts'
import type { Ended, Observation } from './verdict.ts'
import type { WatchDeps } from '../context.ts'

/** Milliseconds between two looks at the requests, and at the clock. */
const interval = 1000

/** Health checks of a watch, and milliseconds between two of them. */
const checks = { count: 12, least: 1000, most: 5000 }

/** A clock that deviates by more than these milliseconds was set. */
const tolerance = 2000

/** Looks at a new version until something tells against it, or the time is over: then null. */
export async function untilVerdict(deps: WatchDeps, watched: Watched, outer: AbortSignal) {
  const over = new AbortController()
  const signal = AbortSignal.any([outer, over.signal])
  try {
    const look = new Look(deps, watched, signal)
    return await Promise.race([look.hear(), look.untilOver(), look.checkHealth()])
  } finally {
    over.abort()
  }
}

class Look {
  readonly #deps: WatchDeps
  readonly #watched: Watched
  readonly #signal: AbortSignal
  readonly #subjects: Subject[]
  readonly #ends = new Ends()

  constructor(deps: WatchDeps, watched: Watched, signal: AbortSignal) {
    this.#deps = deps
    this.#watched = watched
    this.#signal = signal
    const { id: releaseId, environmentId } = watched
    this.#subjects = subjectsOf(deps, { environmentId, releaseId })
  }

  /** Begins with what happened before it listened. */
  async hear(): Promise<WatchVerdict | null> {
    for await (const event of this.#deps.feed.listen(this.#signal)) {
      const found = event === resync ? await this.#inspectAll() : this.#heard(event)
      if (found) return found
    }
    return null
  }

  #heard(event: Parameters<Ends['hear']>[0]) {
    const subject = this.#subjects.find(({ id }) => id === event.id)
    const ended = subject && this.#ends.hear(event)
    return ended ? this.#crashed(subject, ended) : null
  }

  async #inspectAll() {
    for (const subject of this.#subjects) {
      const container = await this.#deps.observed
        .inspect(subject.id, { signal: this.#signal })
        .catch(() => null) // the next resync follows
      const ended = container && endedBefore(container)
      const found = ended ? this.#crashed(subject, ended) : null
      if (found) return found
    }
    return null
  }

  #crashed({ name, component }: Subject, ended: Ended) {
    if (ended.exitCode === 0 && mayEnd(component)) return null
    const memoryMb = Math.round(component.options.memoryBytes / 1024 / 1024)
    return this.#judge({ kind: 'crash', name, ended, memoryMb })
  }

  #judge = (seen: Observation) => verdictOf(this.#watched.watch.on, seen)

  /** By a clock that no one sets. */
  async untilOver(): Promise<WatchVerdict | null> {
    const { watchUntil, watch } = this.#watched
    const left = Math.min(watchUntil.getTime() - Date.now(), watch.seconds * 1000)
    const over = performance.now() + left
    let until = watchUntil.getTime()
    for (;;) {
      const remains = over - performance.now()
      if (remains <= 0 || this.#signal.aborted) return null
      await sleep(Math.min(interval, remains), undefined, { signal: this.#signal }).catch(() => {})
      if (!getWatched(this.#deps.db, this.#watched.id)) return null // its environment was deleted
      const found = this.#countErrors()
      if (found) return found
      const now = Date.now() + over - performance.now()
      if (Math.abs(now - until) <= tolerance || this.#signal.aborted) continue
      until = now
      updateWatch(this.#deps.db, this.#watched, { watchUntil: new Date(now) })
    }
  }

  #countErrors() {
    return this.#judge({ kind: 'errors', ...figuresOf(this.#deps.logDb, this.#watched) })
  }

  async checkHealth(): Promise<WatchVerdict | null> {
    const { environmentId, projectId, watch } = this.#watched
    const { count, least, most } = checks
    const pause = Math.min(most, Math.max(least, (watch.seconds * 1000) / count))
    const network = networkNameOf({ id: environmentId, projectId })
    const run = { ...this.#deps, network, signal: this.#signal }
    const failures = new Failures()
    while (watch.on.includes('health') && !this.#signal.aborted) {
      for (const subject of this.#subjects) {
        const result = await checkHealth(run, subject).catch((error) => {
          if (!this.#signal.aborted) report('a health check of a new version failed', error)
          return null
        })
        if (!result || !failures.add(subject.id, result)) continue
        return this.#judge({ kind: 'health', name: subject.name })
      }
      await sleep(pause, undefined, { signal: this.#signal }).catch(() => {})
    }
    return new Promise<never>(() => {}) // the others decide
  }
}

/** What a person stops ends with one of these. */
const stopped = new Set([0, 130, 137, 143])

function endedBefore({ state, exitCode, restartCount, oomKilled }: Container): Ended | null {
  const hasEnded = state === 'restarting' || (state === 'exited' && !stopped.has(exitCode))
  if (!oomKilled && restartCount === 0 && !hasEnded) return null
  return { exitCode: hasEnded ? exitCode : null, isOutOfMemory: oomKilled }
}
