import { errorFrom } from './errors.ts'
import type { PlainError } from './errors.ts'

/** A task ran longer than its deadline. */
export class DeadlineError extends Error {}

type Options = {
  /** Milliseconds that it may run; waiting for a worker doesn't count. */
  deadline: number
  /** Whose it is: of one owner's tasks only one runs at a time. */
  owner?: string | undefined
  signal?: AbortSignal | undefined
}

type Task = {
  request: { name: string; args: unknown[] }
  owner: string | undefined
  deadline: number
  promised: PromiseWithResolvers<unknown>
}
type Slot = { worker: Worker; task: Task | null; timer: ReturnType<typeof setTimeout> | undefined }

/** What a worker answers with. */
export type Reply = { value: unknown } | { error: PlainError }

/**
 * Runs tasks on threads of their own. A thread starts with the first task that needs it, ends when idle
 * for a while, and is ended and replaced when a task outlives its deadline or nobody waits for it anymore.
 */
export class WorkerPool {
  readonly #entry: string
  readonly #size: number
  readonly #idle: number
  readonly #slots = new Set<Slot>()
  readonly #waiting: Task[] = []

  /** `entry`: the module that answers tasks; `idle`: milliseconds that a thread without a task stays. */
  constructor(entry: string, { size, idle }: { size: number; idle: number }) {
    this.#entry = entry
    this.#size = size
    this.#idle = idle
  }

  /** Threads at this moment. */
  get threads() {
    return this.#slots.size
  }

  /** Resolves with what the task returned; throws what it threw, a DeadlineError or the signal's reason. */
  async run(name: string, args: unknown[], { deadline, owner, signal }: Options): Promise<unknown> {
    signal?.throwIfAborted()
    const promised = Promise.withResolvers<unknown>()
    const task: Task = { request: { name, args }, owner, deadline, promised }
    const abort = () => this.#drop(task, signal!.reason)
    signal?.addEventListener('abort', abort, { once: true })
    this.#waiting.push(task)
    this.#startNext()
    try {
      return await promised.promise
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  #startNext() {
    for (;;) {
      const slot = [...this.#slots].find(({ task }) => task === null)
      if (!slot && this.#slots.size >= this.#size) return
      const running = new Set([...this.#slots].map(({ task }) => task?.owner))
      const next = this.#waiting.findIndex(
        ({ owner }) => owner === undefined || !running.has(owner),
      )
      if (next === -1) return
      const [task] = this.#waiting.splice(next, 1)
      this.#start(slot ?? this.#open(), task!)
    }
  }

  #open(): Slot {
    const worker = new Worker(this.#entry, { smol: true })
    const slot: Slot = { worker, task: null, timer: undefined }
    worker.onmessage = ({ data }: MessageEvent<Reply>) => this.#finish(slot, data)
    worker.onerror = ({ message }) => this.#close(slot, new Error(`A worker failed: ${message}`))
    this.#slots.add(slot)
    return slot
  }

  #start(slot: Slot, task: Task) {
    clearTimeout(slot.timer)
    slot.task = task
    slot.timer = setTimeout(() => this.#close(slot, new DeadlineError()), task.deadline)
    slot.worker.ref()
    try {
      slot.worker.postMessage(task.request)
    } catch (error) {
      this.#close(slot, error)
    }
  }

  #finish(slot: Slot, reply: Reply) {
    const task = slot.task
    clearTimeout(slot.timer)
    slot.task = null
    slot.worker.unref()
    slot.timer = setTimeout(() => this.#close(slot, null), this.#idle)
    slot.timer.unref()
    if ('error' in reply) task?.promised.reject(errorFrom(reply.error))
    else task?.promised.resolve(reply.value)
    this.#startNext()
  }

  /** Ends the thread; its task, if it has one, fails for this reason. */
  #close(slot: Slot, reason: unknown) {
    clearTimeout(slot.timer)
    this.#slots.delete(slot)
    slot.worker.terminate()
    slot.task?.promised.reject(reason)
    this.#startNext()
  }

  #drop(task: Task, reason: unknown) {
    const slot = [...this.#slots].find((slot) => slot.task === task)
    if (slot) return this.#close(slot, reason)
    const index = this.#waiting.indexOf(task)
    if (index !== -1) this.#waiting.splice(index, 1)
    task.promised.reject(reason)
  }
}
