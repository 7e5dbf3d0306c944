import { errorFrom } from './errors.ts'
import type { PlainError } from './errors.ts'
import { KeyedLock, Semaphore } from './semaphore.ts'
import { neverAborted } from './pause.ts'

/** A task ran longer than its deadline. */
export class DeadlineError extends Error {}

/** Milliseconds in which a thread has to start. */
const startDeadline = 60_000

export type TaskOptions = {
  /** Milliseconds that it may run; waiting for a worker, or for its start, doesn't count. */
  deadline: number
  /** Only one task runs at a time for each owner. */
  owner?: string | undefined
  signal?: AbortSignal | undefined
}

type ReplyLimits = { deadline: number; signal: AbortSignal }
type Request = { name: string; args: unknown[] }

/** A worker's reply to a task. It also sends one when it is ready for the first. */
export type Reply = { value: unknown } | { error: PlainError }

/**
 * Runs tasks on separate threads. A thread starts with the first task that needs it and ends when idle for a
 * while; it is ended and replaced when a task exceeds its deadline or no one waits for it anymore.
 */
export class WorkerPool {
  readonly #entry: string
  readonly #idle: number
  readonly #turns: Semaphore
  readonly #owners = new KeyedLock()
  readonly #threads = new Set<Worker>()
  /** Idle workers, with the timer that ends them. */
  readonly #resting = new Map<Worker, ReturnType<typeof setTimeout>>()

  /** `entry` is the module that runs tasks; `idle` is the milliseconds that a thread without a task stays. */
  constructor(entry: string, { size, idle }: { size: number; idle: number }) {
    this.#entry = entry
    this.#idle = idle
    this.#turns = new Semaphore(size)
  }

  get threads() {
    return this.#threads.size
  }

  /** Resolves with the task's result. Throws what it threw, a DeadlineError or the signal's reason. */
  async run(
    name: string,
    args: unknown[],
    { deadline, owner, signal = neverAborted() }: TaskOptions,
  ): Promise<unknown> {
    const inTurn = async () => {
      using _ = await this.#turns.acquire(signal)
      signal.throwIfAborted()
      return await this.#ask({ name, args }, { deadline, signal })
    }
    return owner === undefined ? inTurn() : this.#owners.run(owner, signal, inTurn)
  }

  async #ask(request: Request, { deadline, signal }: ReplyLimits) {
    const worker = this.#wake() ?? (await this.#start(signal))
    const reply = await this.#hear(worker, { deadline, signal }, request)
    this.#rest(worker)
    if ('error' in reply) throw errorFrom(reply.error)
    return reply.value
  }

  #wake() {
    const [worker] = this.#resting.keys()
    if (!worker) return null
    clearTimeout(this.#resting.get(worker))
    this.#resting.delete(worker)
    worker.ref()
    return worker
  }

  /** Resolves once it has loaded its modules: on a busy machine that takes longer than a task may. */
  async #start(signal: AbortSignal) {
    const worker = new Worker(this.#entry, { smol: true })
    this.#threads.add(worker)
    await this.#hear(worker, { deadline: startDeadline, signal })
    return worker
  }

  /** Sends a message, if any, and resolves with the worker's next reply. Ends a worker that doesn't reply. */
  async #hear(
    worker: Worker,
    { deadline, signal }: ReplyLimits,
    request?: Request,
  ): Promise<Reply> {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>()
    const timer = setTimeout(() => reject(new DeadlineError()), deadline)
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    worker.onmessage = ({ data }: MessageEvent<Reply>) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(`A worker failed: ${message}`))
    try {
      if (request) worker.postMessage(request)
      return await promise
    } catch (error) {
      this.#end(worker)
      throw error
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  #rest(worker: Worker) {
    worker.unref()
    worker.onerror = () => this.#end(worker)
    const timer = setTimeout(() => this.#end(worker), this.#idle)
    timer.unref()
    this.#resting.set(worker, timer)
  }

  #end(worker: Worker) {
    this.#threads.delete(worker)
    clearTimeout(this.#resting.get(worker))
    this.#resting.delete(worker)
    worker.terminate()
  }
}
