import { retryOnDiskFull } from '../../db/failures.ts'
import type { MetFreeze } from '../../db/schema.ts'
import { Failure } from '../../platform/errors.ts'
import { report } from '../../platform/journal.ts'
import type { WatchDeps } from '../context.ts'
import { getWatched, getWatchedOf, listUntold, listWatched } from './store.ts'
import type { Watched } from './store.ts'
import type { Ending, Run } from './watch.ts'

/** Watches new versions after their switch, until their time is over or requests went back. */
export class Watches {
  readonly #deps: WatchDeps
  readonly #runs = new Map<string, Run>()
  /** What led back in the last process, and is told by this one. */
  readonly #tells = new Set<Promise<void>>()
  readonly #shutdown = new AbortController()

  constructor(deps: Omit<WatchDeps, 'shutdown'>) {
    this.#deps = { ...deps, shutdown: this.#shutdown.signal }
  }

  /** Loads what a watch takes; call it before the switch, as requests may have to go back at once after it. */
  prepare = () => import('./watch.ts')

  /** Does nothing for a deployment that isn't watched, or is being ended already. */
  begin(id: string) {
    const watched = getWatched(this.#deps.db, id)
    const isBegun = watched && this.#runs.get(watched.environmentId)?.id === id
    if (watched && !isBegun && !this.#deps.shutdown.aborted) this.#begin(watched)
  }

  #begin({ id, environmentId, watch: { since, verdict, wentBackAt, share } }: Watched) {
    const stop = new AbortController()
    const run: Run = { ...{ id, stop, verdict }, ending: null, done: Promise.resolve() }
    this.#deps.watched.begin(environmentId, since, share?.slot)
    if (wentBackAt !== undefined) this.#deps.watched.wentBack(environmentId, wentBackAt)
    this.#runs.set(environmentId, run)
    const { shutdown: signal } = this.#deps
    run.done = retryOnDiskFull(async () => (await this.prepare()).watch(this.#deps, run), {
      signal,
    })
      .catch((error) => {
        if (!signal.aborted) report('watching a new version failed', error, { deployment: id })
      })
      .finally(() => {
        if (this.#runs.get(environmentId) !== run) return
        this.#runs.delete(environmentId)
        this.#deps.watched.end(environmentId)
      })
    return run
  }

  /**
   * Ends the watch of an environment, or only of that deployment, if it has one: its version stays, or is
   * taken back if it has a share of the requests. Returns false if it has none, or requests have just gone back.
   */
  async end(
    { id, environmentId }: { id?: string; environmentId: string },
    end: Ending['end'],
    by?: string,
    freeze: MetFreeze | null = null,
  ) {
    const found = getWatchedOf(this.#deps.db, environmentId)
    const run = this.#runs.get(environmentId) ?? (found && this.#begin(found))
    if (!run || (id !== undefined && id !== run.id)) return false
    if (!run.verdict) run.ending ??= { end, by, freeze }
    run.stop.abort()
    await run.done
    return run.verdict === null && getWatched(this.#deps.db, run.id) === undefined
  }

  /** The same for work on its containers. Throws when it couldn't be ended: then it goes on. */
  async endFor(
    { environmentId, what, signal }: { environmentId: string; what: string; signal: AbortSignal },
    end: Ending['end'],
  ) {
    await this.end({ environmentId }, end)
    signal.throwIfAborted() // a stop of Davit ends no watch
    const watched = getWatchedOf(this.#deps.db, environmentId)
    if (!watched) return
    this.begin(watched.id)
    throw new Failure(
      'still_watched',
      `${what}: the watch of #${watched.number} couldn’t be ended.`,
      'Try again. If it keeps failing, see Davit’s log.',
    )
  }

  /**
   * Gives all requests to a version that has a share of them: it is watched from now on as any other. In a freeze with
   * the note that it is done for.
   */
  async promote(of: { id: string; environmentId: string }, by: string, freeze: MetFreeze | null) {
    await this.end(of, 'promoted', by, freeze)
    this.begin(of.id)
  }

  /** Continues those of the last process. Call it when restored apps were found. */
  resume() {
    if (this.#deps.shutdown.aborted) return
    for (const watched of listWatched(this.#deps.db))
      if (this.#runs.get(watched.environmentId)?.id !== watched.id) this.#begin(watched)
    for (const { id } of listUntold(this.#deps.db)) {
      const told = this.#tell(id).finally(() => this.#tells.delete(told))
      this.#tells.add(told)
    }
  }

  async #tell(id: string) {
    try {
      await (await import('./tell.ts')).tellReverted(this.#deps, id)
    } catch (error) {
      if (!this.#deps.shutdown.aborted)
        report('what led back to a version could not be told', error, { deployment: id })
    }
  }

  /** Resolves when none is watched any more, or has just gone back. */
  async idle() {
    while (this.#runs.size > 0) await Promise.all(this.#runs.values().map(({ done }) => done))
    await Promise.all(this.#tells)
  }

  /** The next process continues them. */
  async stop() {
    this.#shutdown.abort()
    await this.idle()
  }
}
