import type { WatchEnd } from '../../db/schema.ts'
import { report } from '../../platform/journal.ts'
import type { WatchDeps } from './deps.ts'
import { addDetails, goBack } from './go-back.ts'
import { endWatch } from './end.ts'
import { untilVerdict } from './look.ts'
import { getWatched, listWatchedIds } from './store.ts'
import type { Watched } from './store.ts'

type Run = {
  id: string
  stop: AbortController
  /** True once requests are about to go back, which nothing stops. */
  isDecided: boolean
  done: Promise<void>
}

/** Watches new versions after their switch, until their time is over or requests went back. */
export class Watches {
  readonly #deps: WatchDeps
  readonly #runs = new Map<string, Run>()
  readonly #shutdown = new AbortController()

  constructor(deps: WatchDeps) {
    this.#deps = deps
  }

  /** Does nothing for a deployment that isn't watched. */
  begin(id: string) {
    const watched = getWatched(this.#deps.db, id)
    if (!watched || this.#shutdown.signal.aborted) return
    const { environmentId } = watched
    this.#deps.watched.begin(environmentId, watched.watch.since)
    const run: Run = {
      id,
      stop: new AbortController(),
      isDecided: watched.watch.verdict !== null,
      done: Promise.resolve(),
    }
    this.#runs.set(environmentId, run)
    run.done = this.#watch(watched, run)
      .catch((error) => {
        if (!this.#shutdown.signal.aborted)
          report('watching a new version failed', error, { deployment: id })
      })
      .finally(() => {
        if (this.#runs.get(environmentId) !== run) return
        this.#runs.delete(environmentId)
        this.#deps.watched.end(environmentId)
      })
  }

  async #watch(watched: Watched, run: Run) {
    const shutdown = this.#shutdown.signal
    const signal = AbortSignal.any([run.stop.signal, shutdown])
    const verdict = watched.watch.verdict ?? (await untilVerdict(this.#deps, watched, signal))
    if (signal.aborted) return
    const now = getWatched(this.#deps.db, run.id)
    if (!now) return
    if (!verdict) return endWatch(this.#deps, now, { end: 'over', shutdown })
    run.isDecided = true
    if (await goBack(this.#deps, now, { verdict, shutdown }))
      await addDetails(this.#deps, now, { shutdown })
  }

  /**
   * Ends the watch of an environment, or only of that deployment, if it has one: its version stays. Returns false if it has none, or
   * requests have just gone back.
   */
  async end(
    { id, environmentId }: { id?: string; environmentId: string },
    end: Extract<WatchEnd, 'kept' | 'replaced'>,
    by?: string,
  ) {
    const run = this.#runs.get(environmentId)
    if (!run || (id !== undefined && id !== run.id)) return false
    if (!run.isDecided) run.stop.abort()
    await run.done
    const watched = getWatched(this.#deps.db, run.id)
    if (!watched) return false
    await endWatch(this.#deps, watched, { end, by, shutdown: this.#shutdown.signal })
    return true
  }

  /** Continues those of the last process, until the signal. Call it when all workloads were observed. */
  resume() {
    for (const id of listWatchedIds(this.#deps.db)) this.begin(id)
  }

  /** Resolves when none is watched any more, or has just gone back. */
  async idle() {
    while (this.#runs.size > 0) await Promise.all(this.#runs.values().map(({ done }) => done))
  }

  /** The next process continues them. */
  async stop() {
    this.#shutdown.abort()
    await this.idle()
  }
}
