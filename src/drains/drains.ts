import type { Db, LogDb } from '../db/index.ts'
import { report } from '../platform/journal.ts'
import { untilBeat } from '../platform/pause.ts'
import { Semaphore } from '../platform/semaphore.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import type { BatchDeps, Progress } from './send-batch.ts'
import { deleteCursors, hasDrains, listActive, ofTraces } from './store.ts'

type DrainDeps = BatchDeps & { db: Db; logDb: LogDb; scheduler: Scheduler }

/** Milliseconds between two looks for new lines: logs that no one follows are read as often. */
const interval = 5000

/** Milliseconds until what failed is tried again: doubled each time, or as the receiver says. */
const retry = { first: 5000, last: 300_000, asked: 3_600_000 }

/** Drains of one user that send at the same time: those that hang delay no one else's. */
const width = 4

/** What isn't worth storing: after a restart a drain tries at once. */
type State = Progress & { failures: number; nextAt: number }

/** The lines of a drain, or its traces: neither waits for the other. */
type Task = { key: string; id: string; ownerId: string; isTraces: boolean }

/**
 * Sends the stored logs of environments, and traces of deployments. The log itself is what waits: neither an app nor
 * the collection of its output knows of a drain. A line counts as sent when its receiver has it, so after a crash some are sent again.
 */
export class Drains {
  readonly #deps: DrainDeps
  readonly #states = new Map<string, State>()
  readonly #running = new Map<string, Promise<void>>()
  /** By owner. */
  readonly #semaphores = new Map<string, Semaphore>()

  constructor(deps: DrainDeps) {
    this.#deps = deps
  }

  /** Until the signal. Without drains it costs nothing. */
  async run({ signal }: { signal: AbortSignal }) {
    const { db, scheduler } = this.#deps
    await scheduler.keep(
      {
        next: (now) => (hasDrains(db) ? now + untilBeat(interval, now) : null),
        run: (now) => this.sendDue(now, { signal }),
        failed: 'logs were not drained',
      },
      { signal },
    )
    await this.idle()
  }

  /** Starts those that are due; none waits for another. */
  sendDue(now: number, { signal }: { signal: AbortSignal }) {
    const { db, logDb } = this.#deps
    if (logDb.$client.reserve.isGone) return // what was sent couldn't be noted
    const active = listActive(db).flatMap(({ id, ownerId, hasTraces }): Task[] => [
      { key: id, id, ownerId, isTraces: false },
      ...(hasTraces ? [{ key: ofTraces(id), id, ownerId, isTraces: true }] : []),
    ])
    const keys = new Set(active.map(({ key }) => key))
    for (const key of this.#states.keys()) if (!keys.has(key)) this.#states.delete(key)
    for (const task of active) {
      const nextAt = this.#states.get(task.key)?.nextAt ?? 0
      // later than it can be: the clock was set back
      const isDue = nextAt <= now || nextAt > now + retry.asked
      if (isDue && !this.#running.has(task.key)) this.#start(task, signal)
    }
  }

  /** Resolves when no drain sends. */
  async idle() {
    while (this.#running.size > 0) await Promise.all(this.#running.values())
  }

  /** After a change no drain waits any longer to try again. */
  changed() {
    const { db, logDb, scheduler } = this.#deps
    for (const state of this.#states.values()) state.nextAt = 0
    deleteCursors(db, logDb)
    scheduler.wake()
  }

  #start(task: Task, signal: AbortSignal) {
    const work = this.#send(task, signal)
      .catch((error) => {
        if (signal.aborted) return
        report('a log was not drained', error, { drain: task.key })
        this.#delay(task.key, 0)
      })
      .finally(() => this.#running.delete(task.key))
    this.#running.set(task.key, work)
  }

  async #send({ key, id, ownerId, isTraces }: Task, signal: AbortSignal) {
    const semaphore = this.#semaphores.getOrInsertComputed(ownerId, () => new Semaphore(width))
    // nothing of it is needed without drains
    const send = isTraces
      ? (await import('./send-trace.ts')).sendTrace
      : (await import('./send-batch.ts')).sendBatch
    const fresh = { failures: 0, nextAt: 0, waitsSince: null, lines: Infinity, refusable: 0 }
    const state = this.#states.getOrInsert(key, fresh)
    while (!signal.aborted) {
      using _ = await semaphore.acquire(signal) // for each batch, as some always have more
      const end = await send(this.#deps, id, { progress: state, signal })
      if (end.is === 'failed') return this.#delay(key, end.retryAfter)
      if (end.hasSent) Object.assign(state, { failures: 0, nextAt: 0 })
      if (end.is === 'done') return
    }
  }

  #delay(key: string, retryAfter: number) {
    const state = this.#states.get(key)
    if (!state) return
    const wait = Math.min(retry.last, retry.first * 2 ** state.failures++)
    state.nextAt = Date.now() + Math.max(wait, Math.min(retryAfter * 1000, retry.asked))
  }
}
