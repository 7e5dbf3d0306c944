import { setTimeout as sleep } from 'node:timers/promises'
import { retryOnDiskFull, unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import { journal, report } from '../platform/journal.ts'
import {
  claimJob,
  endJob,
  getJob,
  hasJob,
  listJobIds,
  listStartable,
  listUnsettled,
  putBackJob,
  requestCancel,
} from './store.ts'
import type { Job, Slot } from './store.ts'

/** Why a job is aborted: someone cancelled it, or Davit stops and takes it up at its next start. */
export const cancelled = Symbol('cancelled')
export const stopping = Symbol('stopping')

/** One that ran at two ends of Davit may be what kills it. */
const maxAttempts = 2

/** Milliseconds between two tries to store an end. */
const retryDelay = 1000

/** What a handler is given. */
export type Work = {
  job: Job
  /** Aborted with `cancelled` or `stopping` as its reason. */
  signal: AbortSignal
  /** Aborted when what `signal` ended need not be put back as it was either. */
  undo: AbortSignal
  /** Aborted when Davit stops: what is not undone by then is left to the next process. */
  shutdown: AbortSignal
  /** Lets another job have its slot already. */
  releaseSlot: () => void
}

/** Why a job ends without its handler: cancelled, by whom where that is known, begun too often, or broken. */
export type GivenUp = { why: 'cancelled' | 'interrupted' | 'broken'; by?: string | undefined }

/** What is done for the jobs of one kind. */
export type Handler = {
  /**
   * Does the work and stores how it ended, the job's end (`endJob`) with it. Where Davit stops it puts
   * the job back (`putBackJob`); one that it leaves as it is counts as interrupted by a crash.
   */
  run: (work: Work) => Promise<void>
  /**
   * Stores the end of a job that does not run. Called again until it does not throw, which it does
   * where `shutdown` aborts first.
   */
  giveUp: (job: Job, end: GivenUp, shutdown: AbortSignal) => void | Promise<void>
  /** Puts back what ran when the last process died; without it only the job. */
  putBack?: (job: Job) => void
}

type Running = {
  job: Job
  /** What it takes one of at the moment. */
  slot: Slot | null
  abort: AbortController
  undo: AbortController
  done: Promise<void>
}

/**
 * Runs what takes long: one job at a time for each subject, and only a few of those that need a slot,
 * for which their owners take turns. The database is the queue; this only remembers what runs now.
 */
export class Jobs {
  readonly #db: Db
  readonly #slots: Record<Slot, number>
  readonly #turns: Map<Slot, RoundRobin>
  readonly #handlers = new Map<Job['kind'], Handler>()
  readonly #running = new Map<string, Running>()
  /** Who waits for the end of a job. */
  readonly #waiters = new Map<string, PromiseWithResolvers<void>>()
  readonly #stop = new AbortController()

  constructor({ db, slots }: { db: Db; slots: Record<Slot, number> }) {
    this.#db = db
    this.#slots = slots
    this.#turns = new Map((Object.keys(slots) as Slot[]).map((slot) => [slot, new RoundRobin()]))
  }

  handle(kind: Job['kind'], handler: Handler) {
    this.#handlers.set(kind, handler)
  }

  /** Call it after every insert, once that is stored: once too often does no harm. Never throws. */
  wake() {
    if (this.#stop.signal.aborted) return
    try {
      this.#startWaiting()
    } catch (error) {
      report('the jobs that wait could not be read', error)
    }
  }

  /** Whether a job of the subject waits or is at work. */
  isBusy(subjectId: string) {
    return hasJob(this.#db, subjectId)
  }

  /** Whether this process is at work on the subject. */
  isRunning(subjectId: string) {
    return this.#running.values().some(({ job }) => job.subjectId === subjectId)
  }

  /** Resolves when a job has come to its end, or has been put back because Davit stops. */
  async ended(id: string) {
    if (!this.#running.has(id) && !getJob(this.#db, id)) return
    const waiter = this.#waiters.get(id) ?? Promise.withResolvers<void>()
    this.#waiters.set(id, waiter)
    await waiter.promise
  }

  /** Ends jobs, those that wait at once; resolves when all have cleaned up. */
  async cancel(ids: string[], { by }: { by?: string } = {}) {
    unlessFull(() => requestCancel(this.#db, ids)) // of all, before one's end makes room for another
    await Promise.all(ids.map((id) => this.#cancel(id, by)))
  }

  /** Ends all that waits and runs of what is being deleted: nothing of it is put back as it was. */
  async cancelAll({ subjectIds }: { subjectIds: string[] }) {
    const ids = listJobIds(this.#db, { subjectIds })
    for (const id of ids) this.#running.get(id)?.undo.abort(cancelled)
    await this.cancel(ids)
  }

  /**
   * Settles what the last process left: jobs that ran wait again, or are given up when they were begun
   * too often or cancelled. Those that `isDue` leaves out stay as they are. Wake the jobs afterwards.
   */
  async recover(kinds: readonly Job['kind'][], isDue: (job: Job) => boolean = () => true) {
    for (const job of listUnsettled(this.#db))
      if (kinds.includes(job.kind) && !this.#running.has(job.id) && isDue(job))
        await this.#settle(job)
  }

  /** Starts nothing more and ends what runs; resolves when all have let go. */
  async stop() {
    this.#stop.abort()
    for (const { abort, undo } of this.#running.values()) {
      undo.abort(stopping)
      abort.abort(stopping)
    }
    await this.idle()
    for (const { resolve } of this.#waiters.values()) resolve()
  }

  /** Resolves when nothing runs. */
  async idle() {
    while (this.#running.size > 0) await Promise.all(this.#running.values().map(({ done }) => done))
  }

  #startWaiting() {
    const waiting = listStartable(this.#db)
    const free = (slot: Slot | null) =>
      waiting.filter((job) => job.slot === slot && !this.isRunning(job.subjectId))
    for (const job of free(null)) if (!this.isRunning(job.subjectId)) this.#start(job)
    for (const [slot, turns] of this.#turns)
      for (;;) {
        const taken = [...this.#running.values()].filter((running) => running.slot === slot)
        if (taken.length >= this.#slots[slot]) break
        const next = turns.next(
          free(slot),
          taken.map(({ job }) => job),
        )
        if (!next) break
        this.#start(next)
      }
  }

  #start(job: Job) {
    const running: Running = {
      job,
      slot: job.slot,
      abort: new AbortController(),
      undo: new AbortController(),
      done: Promise.resolve(),
    }
    this.#running.set(job.id, running)
    running.done = this.#run(running).finally(() => {
      this.#running.delete(job.id)
      this.#letGo(job.id)
      this.wake()
    })
  }

  async #run(running: Running) {
    const { job, abort, undo } = running
    const { signal } = abort
    const shutdown = this.#stop.signal
    const releaseSlot = () => {
      if (running.slot === null) return
      running.slot = null
      this.wake()
    }
    try {
      const begun = await retryOnDiskFull(() => claimJob(this.#db, job.id), { signal: shutdown })
      if (!begun) return
      const work = { job: begun, signal, undo: undo.signal, shutdown, releaseSlot }
      await this.#handlerOf(job).run(work)
      // what it was for was deleted; what Davit's stop cut short is the next process's
      if (!shutdown.aborted) endJob(this.#db, job.id)
    } catch (error) {
      const { id, kind, subjectId } = job
      journal.error('a job broke', error, { job: id, kind, subject: subjectId })
      await this.#giveUp(job, { why: signal.reason === cancelled ? 'cancelled' : 'broken' })
    }
  }

  async #cancel(id: string, by?: string) {
    const running = this.#running.get(id)
    running?.abort.abort(cancelled)
    await running?.done
    const job = getJob(this.#db, id)
    if (job?.status !== 'waiting') return
    await this.#handlerOf(job).giveUp(job, { why: 'cancelled', by }, this.#stop.signal)
    endJob(this.#db, id)
    this.#letGo(id)
  }

  async #settle(job: Job) {
    if (job.cancelRequested) return this.#giveUp(job, { why: 'cancelled' })
    if (job.attempt >= maxAttempts) return this.#giveUp(job, { why: 'interrupted' })
    const putBack = () => putBackJob(this.#db, job.id, { isAttempt: true })
    const { putBack: withSubject = putBack } = this.#handlerOf(job)
    await retryOnDiskFull(() => withSubject(job), { signal: this.#stop.signal })
  }

  /**
   * Ends a job that can't go on. Tried until it is stored, so that its subject is blocked no longer than
   * the cause lasts; after the stop the next process takes it up.
   */
  async #giveUp(job: Job, end: GivenUp) {
    while (!this.#stop.signal.aborted)
      try {
        await this.#handlerOf(job).giveUp(job, end, this.#stop.signal)
        endJob(this.#db, job.id)
        return this.#letGo(job.id)
      } catch {
        await sleep(retryDelay, undefined, { signal: this.#stop.signal }).catch(() => {})
      }
  }

  #letGo(id: string) {
    this.#waiters.get(id)?.resolve()
    this.#waiters.delete(id)
  }

  #handlerOf({ kind }: Job) {
    const handler = this.#handlers.get(kind)
    if (!handler) throw new Error(`Nothing handles jobs of the kind ${kind}`)
    return handler
  }
}

type Waiting = Pick<Job, 'ownerId'>

/** Whose turn it is where many owners wait for few slots: of those with fewest, who had one longest ago. */
class RoundRobin {
  readonly #lastTurns = new Map<string | null, number>()
  #turns = 0

  /** The next of those that wait, which are in the order in which they came; undefined if there is none. */
  next<Item extends Waiting>(waiting: Item[], running: Waiting[]): Item | undefined {
    const slots = ({ ownerId }: Waiting) =>
      running.filter((other) => other.ownerId === ownerId).length
    const lastTurn = ({ ownerId }: Waiting) => this.#lastTurns.get(ownerId) ?? 0
    const [next] = waiting.toSorted(
      (a, b) => slots(a) - slots(b) || lastTurn(a) - lastTurn(b), // stable: else the oldest
    )
    if (next) this.#lastTurns.set(next.ownerId, ++this.#turns)
    return next
  }
}
