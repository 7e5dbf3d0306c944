import { retryOnDiskFull, unlessFull } from '../db/failures.ts'
import type { Db } from '../db/index.ts'
import type { Logs } from '../logs/logs.ts'
import { AppError } from '../platform/errors.ts'
import { journal, report } from '../platform/journal.ts'
import { onDemand } from '../platform/on-demand.ts'
import { sleepUpTo } from '../platform/pause.ts'
import {
  claimJob,
  endJob,
  getJob,
  listJobIds,
  listStartable,
  listUnsettled,
  requeueJob,
  requestCancel,
} from './store.ts'
import { entitled, hasSlot, RoundRobin, slotCalls } from './slots.ts'
import type { Job, Slot } from './store.ts'
import { broken, cancelled, fieldsOf, interrupted, perform, publish, stopping } from './task.ts'
import type { End, Kind, Running, Task } from './task.ts'

/** A job that was running at two crashes of Davit may be their cause. */
const maxAttempts = 2

/** Milliseconds between two attempts to store an end. */
const retryDelay = 1000

/**
 * Runs long work: one job at a time for each subject, and only a few of those that need a slot, shared fairly
 * between owners. The database is the queue; this only tracks what is running.
 */
export class Jobs {
  readonly #db: Db
  readonly #logs: Pick<Logs, 'publish'>
  readonly #slots: Record<Slot, number>
  readonly #isShared: () => boolean
  readonly #turns: Map<Slot, RoundRobin>
  readonly #kinds = new Map<Job['kind'], () => Promise<Kind>>()
  readonly #running = new Map<string, Running>()
  /** Those that end without running here. */
  readonly #ending = new Set<Job>()
  /** Callers that wait for the end of a job, by its id. */
  readonly #waiters = new Map<string, PromiseWithResolvers<void>>()
  readonly #stop = new AbortController()

  constructor({
    db,
    logs,
    slots,
    isShared = () => false,
  }: {
    db: Db
    logs: Pick<Logs, 'publish'>
    slots: Record<Slot, number>
    /** Returns true when there is more than one owner. */
    isShared?: () => boolean
  }) {
    this.#db = db
    this.#logs = logs
    this.#slots = slots
    this.#isShared = isShared
    this.#turns = new Map((Object.keys(slots) as Slot[]).map((slot) => [slot, new RoundRobin()]))
  }

  /** The code of a kind is loaded with its first job. */
  handle(name: Job['kind'], load: () => Kind | Promise<Kind>) {
    this.#kinds.set(name, onDemand(load))
  }

  /** Call it after every insert, once that is committed; extra calls do no harm. Never throws. */
  wake() {
    if (this.#stop.signal.aborted) return
    try {
      this.#startWaiting()
      for (const id of this.#waiters.keys()) if (this.#isGone(id)) this.#letGo(id)
    } catch (error) {
      report('the queued jobs could not be read', error)
    }
  }

  isRunning = (subjectId: string) => this.#isBusy((job) => job.subjectId === subjectId)

  #isBusy(isIt: (job: Job) => boolean) {
    return [...this.#running.values().map(({ job }) => job), ...this.#ending].some(isIt)
  }

  /** Also one that was superseded while it was queued: nothing else reports that. */
  #isGone = (id: string) => !this.#isBusy((job) => job.id === id) && !getJob(this.#db, id)

  /** Resolves when a job has ended, or was requeued because Davit stops. */
  async ended(id: string) {
    if (this.#isGone(id)) return
    const waiter = this.#waiters.get(id) ?? Promise.withResolvers<void>()
    this.#waiters.set(id, waiter)
    await waiter.promise
  }

  /** Ends jobs, queued ones at once. Resolves when all have cleaned up; true unless all ended otherwise. */
  async cancel(ids: string[], { by }: { by?: string } = {}) {
    // for all of them, before the end of one frees a slot for another
    unlessFull(() => requestCancel(this.#db, ids))
    return (await Promise.all(ids.map((id) => this.#cancel(id, by)))).includes(true)
  }

  cancelFor(by: string, ids: string[], { refusal }: { refusal: () => string }) {
    const refuse = () => {
      throw new AppError('conflict', refusal())
    }
    if (ids.length === 0) refuse()
    const work = this.cancel(ids, { by }).then((isCancelled) => void (isCancelled || refuse()))
    work.catch((error) => error instanceof AppError || report('a cancel failed', error)) // no one may wait
    return work
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

  /** Starts nothing more and ends what is running. Resolves when all have returned. */
  async stop() {
    this.#stop.abort()
    for (const { abort, undo } of this.#running.values()) {
      undo.abort(stopping)
      abort.abort(stopping)
    }
    await this.idle()
    for (const { resolve } of this.#waiters.values()) resolve()
  }

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
        const running = [...this.#running.values()].filter(({ job }) => job.slot === slot)
        const taken = running.filter(hasSlot).map(({ job }) => job)
        const all = this.#slots[slot]
        if (taken.length >= all) break
        const most = all > 1 && this.#isShared() ? all - 1 : all // others could need one
        const next = turns.next(entitled(free(slot), { running, most }), taken)
        if (!next) break
        const again = this.#running.get(next.id)
        if (again) again.resume?.()
        else this.#start(next)
      }
  }

  #start(job: Job) {
    const running: Running = {
      job,
      slot: job.slot,
      isAway: false,
      abort: new AbortController(),
      undo: new AbortController(),
      end: null,
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
      const kind = await this.#kindOf(job)
      const begun = await retryOnDiskFull(() => claimJob(this.#db, job.id), { signal: shutdown })
      if (!begun) return
      const task = kind(begun)
      if (!task) return void endJob(this.#db, job.id)
      const work = { job: begun, signal, undo: undo.signal, shutdown, ...slots }
      const end = await perform(task, work)
      running.end = end?.status === 'cancelled' ? { ...end, by: running.by } : end
      if (running.end) await this.#end(task, { job, end: running.end, signal: undo.signal })
      else await this.#requeue(task, job, 'stop')
    } catch (error) {
      journal.error('a job failed unexpectedly', error, fieldsOf(job))
      const isCancelled = signal.reason === cancelled
      running.end = isCancelled ? { status: 'cancelled' } : { status: 'failed', failure: broken }
      await this.#giveUp(job, running.end)
    }
  }

  /** Returns false when it ended otherwise. */
  async #cancel(id: string, by?: string) {
    const running = this.#running.get(id)
    if (running) {
      running.by ??= by
      running.abort.abort(cancelled)
      await running.done
      if (running.end) return running.end.status === 'cancelled'
    }
    const job = getJob(this.#db, id)
    // one of the last process is ended by `recover`
    if (job?.status === 'waiting')
      await this.#endQueued(job, { status: 'cancelled', by }).finally(() => this.wake())
    return job !== undefined
  }

  async #settle({ id, kind: name }: Pick<Job, 'id' | 'kind'>) {
    const kind = await this.#kindOf({ kind: name })
    const job = getJob(this.#db, id) // it may have been cancelled, or have ended, by now
    if (!job) return
    if (job.cancelRequested) return this.#giveUp(job, { status: 'cancelled' })
    const task = kind(job)
    if (!task) return void endJob(this.#db, id)
    if (job.attempt >= maxAttempts) return this.#giveUp(job, interrupted(task))
    await this.#requeue(task, job, 'crash')
  }

  /**
   * Ends a job that can't continue. Retried until it is stored, so that its subject is blocked no longer than
   * necessary; after a stop the next process resumes it.
   */
  async #giveUp(job: Job, end: End) {
    for (let tries = 0; !this.#stop.signal.aborted; tries++)
      try {
        return await this.#endQueued(job, end)
      } catch (error) {
        if (tries === 0) report('the end of a job could not be stored yet', error, fieldsOf(job))
        await sleepUpTo(retryDelay, this.#stop.signal)
      }
  }

  async #endQueued(job: Job, end: End) {
    this.#ending.add(job) // what it left must be gone before its subject's next job
    try {
      const task = (await this.#kindOf(job))(job)
      if (task) await this.#end(task, { job, end, signal: this.#stop.signal })
      else endJob(this.#db, job.id)
    } finally {
      this.#ending.delete(job)
    }
    this.#letGo(job.id)
  }

  async #end(task: Task, { job, end, signal }: { job: Job; end: End; signal: AbortSignal }) {
    const shutdown = this.#stop.signal
    const news = await retryOnDiskFull(() => task.end(end, signal), { signal: shutdown })
    if (!shutdown.aborted) endJob(this.#db, job.id)
    if (getJob(this.#db, job.id)) return // the next process ends it
    publish(this.#logs, { task, job, news })
    await task.after?.(end, signal).catch((error) => {
      if (!signal.aborted) report('tidying up after a job failed', error, fieldsOf(job))
    })
  }

  async #requeue(task: Task, job: Job, why: 'stop' | 'crash') {
    const store = () =>
      this.#db.transaction(() => {
        if (!getJob(this.#db, job.id)) return undefined // it had ended when it was stopped
        const news = task.requeue?.(why) || undefined
        requeueJob(this.#db, job.id, { slot: news?.slot, isAttempt: why === 'crash' })
        return news
      })
    const news = await retryOnDiskFull(store, { signal: this.#stop.signal })
    publish(this.#logs, { task, job, news })
  }

  #letGo(id: string) {
    this.#waiters.get(id)?.resolve()
    this.#waiters.delete(id)
  }

  #kindOf({ kind }: Pick<Job, 'kind'>) {
    const load = this.#kinds.get(kind)
    if (!load) throw new Error(`There are no jobs of the kind ${kind}`)
    return load()
  }
}
