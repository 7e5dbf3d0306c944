import { AppError } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { PullProgress } from './progress.ts'

/** Why a job is aborted: someone cancelled it, or Davit stops and takes it up at its next start. */
export const cancelled = Symbol('cancelled')
export const stopping = Symbol('stopping')

/** `undo` is aborted when what `signal` has ended need not be put back either. */
export type Job = (of: {
  progress: PullProgress
  signal: AbortSignal
  undo: AbortSignal
}) => Promise<void>

type Running = {
  beganAt: Date
  abort: AbortController
  undo: AbortController
  progress: PullProgress
  done: Promise<void>
}

/** Runs what changes instances: one job at a time for each. The rows say what to do after a crash. */
export class ServiceRunner {
  readonly #running = new Map<string, Running>()
  readonly #changed: (id: string) => void
  #stopped = false

  /** `changed` is called whenever the progress of an instance has something new. */
  constructor(changed: (id: string) => void) {
    this.#changed = changed
  }

  /** Begins a job; refuses while another one is at work there. */
  run(id: string, job: Job) {
    if (this.#running.has(id))
      throw new AppError('conflict', 'This service is being changed. Wait until that has ended.')
    if (this.#stopped) return Promise.resolve()
    const abort = new AbortController()
    const undo = new AbortController()
    const progress = new PullProgress(() => this.#changed(id))
    const done = job({ progress, signal: abort.signal, undo: undo.signal })
      .catch((error) => report('a job of a service broke', error, { service: id }))
      .finally(() => this.#running.delete(id))
    this.#running.set(id, { beganAt: new Date(), abort, undo, progress, done })
    return done
  }

  isBusy(id: string) {
    return this.#running.has(id)
  }

  busyIds() {
    return [...this.#running.keys()]
  }

  /** When the job at work began; undefined when there is none. */
  beganAt(id: string) {
    return this.#running.get(id)?.beganAt
  }

  /** Of the job at work; null when there is none. */
  progressOf(id: string) {
    return this.#running.get(id)?.progress ?? null
  }

  /** Ends the job of an instance; resolves when it has cleaned up. */
  async cancel(id: string) {
    const job = this.#running.get(id)
    job?.abort.abort(cancelled)
    await job?.done
  }

  /** The same for one that is to be gone: nothing is put back as it was. */
  async end(id: string) {
    this.#running.get(id)?.undo.abort(cancelled)
    await this.cancel(id)
  }

  /** Aborts all jobs and waits for them; what they were at is taken up by the next process. */
  async stop() {
    this.#stopped = true
    const jobs = [...this.#running.values()]
    for (const { abort, undo } of jobs) {
      undo.abort(stopping)
      abort.abort(stopping)
    }
    await Promise.all(jobs.map(({ done }) => done))
  }

  /** Resolves when no job is at work. */
  async idle() {
    while (this.#running.size > 0) await Promise.all(this.#running.values().map(({ done }) => done))
  }
}
