import { setTimeout as sleep } from 'node:timers/promises'
import { retryOnDiskFull, unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import { journal, report } from '../platform/journal.ts'
import { onDemand } from '../platform/on-demand.ts'
import {
  claimJob,
  endJob,
  getJob,
  hasJob,
  listJobIds,
  listStartable,
  listUnsettled,
  requeueJob,
  requestCancel,
} from './store.ts'
import { RoundRobin, slotCalls } from './slots.ts'
import type { SlotCalls, SlotUse } from './slots.ts'
import type { Job, Slot } from './store.ts'

/** Reasons to abort a job: someone cancelled it, or Davit stops and resumes it at its next start. */
export const cancelled = Symbol('cancelled')
export const stopping = Symbol('stopping')

/** A job that was running at two crashes of Davit may be their cause. */
const maxAttempts = 2

/** Milliseconds between two attempts to store an end. */
const retryDelay = 1000

export type Work = SlotCalls & {
  job: Job
  /** Aborted with `cancelled` or `stopping` as its reason. */
  signal: AbortSignal
  /** Aborted when undoing must end too: the subject is being deleted, or Davit stops. */
  undo: AbortSignal
  /** Aborted when Davit stops: the next process undoes what remains. */
  shutdown: AbortSignal
}

/** Why a job ends without its handler: cancelled (by whom, if known), started too often, or broken. */
export type GivenUp = { why: 'cancelled' | 'interrupted' | 'broken'; by?: string | undefined }

/** Handles the jobs of one kind. */
export type Handler = {
  /**
   * Does the work and stores its outcome together with the job's end (`endJob`). When Davit stops it requeues
   * the job (`requeueJob`); a job it leaves unchanged counts as interrupted by a crash.
   */
  run: (work: Work) => Promise<void>
  /** Stores the end of a job that isn't running. Retried until it doesn't throw, or `shutdown` aborts. */
  giveUp: (job: Job, end: GivenUp, shutdown: AbortSignal) => void | Promise<void>
  /** Requeues a job that ran when the last process died, with its subject. Default: only the job. */
  requeue?: (job: Job) => void
}

type Running = SlotUse & {
  job: Job
  abort: AbortController
  undo: AbortController
  done: Promise<void>
}

/**
 * Runs long work: one job at a time for each subject, and only a few of those that need a slot, shared fairly
 * between owners. The database is the queue; this only tracks what is running.
 */
export class Jobs {
  readonly #db: Db
  readonly #slots: Record<Slot, number>
  readonly #isShared: () => boolean
  readonly #turns: Map<Slot, RoundRobin>
  readonly #handlers = new Map<Job['kind'], () => Promise<Handler>>()
  readonly #running = new Map<string, Running>()
  /** Callers that wait for the end of a job, by its id. */
  readonly #waiters = new Map<string, PromiseWithResolvers<void>>()
  readonly #stop = new AbortController()

  constructor({
    db,
    slots,
    isShared = () => false,
  }: {
    db: Db
    slots: Record<Slot, number>
    /** Returns true when there is more than one owner. */
    isShared?: () => boolean
  }) {
    this.#db = db
    this.#slots = slots
    this.#isShared = isShared
    this.#turns = new Map((Object.keys(slots) as Slot[]).map((slot) => [slot, new RoundRobin()]))
  }

  /** The handler is loaded with the first job that needs it. */
  handle(kind: Job['kind'], load: () => Handler | Promise<Handler>) {
    this.#handlers.set(kind, onDemand(load))
  }

  /** Call it after every insert, once that is committed; extra calls do no harm. Never throws. */
  wake() {
    if (this.#stop.signal.aborted) return
    try {
      this.#startWaiting()
    } catch (error) {
      report('the queued jobs could not be read', error)
    }
  }

  /** True when the subject has a queued or running job. */
  isBusy(subjectId: string) {
    return hasJob(this.#db, subjectId)
  }

  /** True when this process runs a job of the subject. */
  isRunning(subjectId: string) {
    return this.#running.values().some(({ job }) => job.subjectId === subjectId)
  }

  /** Resolves when a job has ended, or was requeued because Davit stops. */
  async ended(id: string) {
    if (!this.#running.has(id) && !getJob(this.#db, id)) return
    const waiter = this.#waiters.get(id) ?? Promise.withResolvers<void>()
    this.#waiters.set(id, waiter)
    await waiter.promise
  }

  /** Ends jobs, queued ones at once. Resolves when all have cleaned up. */
  async cancel(ids: string[], { by }: { by?: string } = {}) {
    // for all of them, before the end of one frees a slot for another
    unlessFull(() => requestCancel(this.#db, ids))
    await Promise.all(ids.map((id) => this.#cancel(id, by)))
  }

  /** Ends all jobs of subjects that are being deleted: nothing is restored. */
  async cancelAll({ subjectIds }: { subjectIds: string[] }) {
    const ids = listJobIds(this.#db, { subjectIds })
    for (const id of ids) this.#running.get(id)?.undo.abort(cancelled)
    await this.cancel(ids)
  }

  /**
   * Settles what the last process left: jobs that were running are requeued, or ended when they were started
   * too often or cancelled. Those that `isDue` excludes stay as they are. Call `wake` afterwards.
   */
  async recover(kinds: readonly Job['kind'][], isDue: (job: Job) => boolean = () => true) {
    for (const job of listUnsettled(this.#db))
      if (kinds.includes(job.kind) && !this.#running.has(job.id) && isDue(job))
        await this.#settle(job)
  }

  /** Starts nothing more and ends what is running. Resolves when all handlers have returned. */
  async stop() {
    this.#stop.abort()
    for (const { abort, undo } of this.#running.values()) {
      undo.abort(stopping)
      abort.abort(stopping)
    }
    await this.idle()
    for (const { resolve } of this.#waiters.values()) resolve()
  }

  /** Resolves when nothing is running. */
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
        const needing = [...this.#running.values()].filter((running) => running.slot === slot)
        const taken = needing.filter(({ isAway }) => !isAway).map(({ job }) => job)
        if (taken.length >= this.#slots[slot]) break
        const returning = needing.filter(({ resume }) => resume).map(({ job }) => job)
        // lent slots count for their owner, who could otherwise have any number of jobs at once
        const most = this.#mostOfOwner(slot)
        const mayStart = ({ ownerId }: Job) =>
          needing.filter(({ job }) => job.ownerId === ownerId).length < most
        const next = turns.next([...returning, ...free(slot).filter(mayStart)], taken)
        if (!next) break
        if (returning.includes(next)) this.#running.get(next.id)!.resume?.()
        else this.#start(next)
      }
  }

  /** One slot fewer than all while others could need it. */
  #mostOfOwner(slot: Slot) {
    const all = this.#slots[slot]
    return all > 1 && this.#isShared() ? all - 1 : all
  }

  #start(job: Job) {
    const running: Running = {
      job,
      slot: job.slot,
      isAway: false,
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
    const slots = slotCalls(running, { signal, wake: () => this.wake() })
    try {
      // claimed first: a claimed job must run before anything else happens to its subject
      const handler = await this.#handlerOf(job)
      const begun = await retryOnDiskFull(() => claimJob(this.#db, job.id), { signal: shutdown })
      if (!begun) return
      const work = { job: begun, signal, undo: undo.signal, shutdown, ...slots }
      await handler.run(work)
      // its subject was deleted; a job interrupted by Davit's stop is left to the next process
      if (!shutdown.aborted) endJob(this.#db, job.id)
    } catch (error) {
      const { id, kind, subjectId } = job
      journal.error('a job failed unexpectedly', error, { job: id, kind, subject: subjectId })
      await this.#giveUp(job, { why: signal.reason === cancelled ? 'cancelled' : 'broken' })
    }
  }

  async #cancel(id: string, by?: string) {
    const running = this.#running.get(id)
    running?.abort.abort(cancelled)
    await running?.done
    const job = getJob(this.#db, id)
    if (job?.status !== 'waiting') return
    const { giveUp } = await this.#handlerOf(job)
    await giveUp(job, { why: 'cancelled', by }, this.#stop.signal)
    endJob(this.#db, id)
    this.#letGo(id)
  }

  async #settle({ id, kind }: Pick<Job, 'id' | 'kind'>) {
    const requeueAlone = () => requeueJob(this.#db, id, { isAttempt: true })
    const { requeue = requeueAlone } = await this.#handlerOf({ kind })
    const job = getJob(this.#db, id) // it may have been cancelled, or have ended, by now
    if (!job) return
    if (job.cancelRequested) return this.#giveUp(job, { why: 'cancelled' })
    if (job.attempt >= maxAttempts) return this.#giveUp(job, { why: 'interrupted' })
    await retryOnDiskFull(() => requeue(job), { signal: this.#stop.signal })
  }

  /**
   * Ends a job that can't continue. Retried until it is stored, so that its subject is blocked no longer than
   * necessary; after a stop the next process resumes it.
   */
  async #giveUp(job: Job, end: GivenUp) {
    while (!this.#stop.signal.aborted)
      try {
        const { giveUp } = await this.#handlerOf(job)
        await giveUp(job, end, this.#stop.signal)
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

  #handlerOf({ kind }: Pick<Job, 'kind'>) {
    const load = this.#handlers.get(kind)
    if (!load) throw new Error(`There is no handler for jobs of the kind ${kind}`)
    return load()
  }
}
