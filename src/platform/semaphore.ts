import { AppError } from './errors.ts'

type Waiting = { weight: number; start: () => void }

/** Limits the permits held at a time, one per caller by default; the others wait in FIFO order. */
export class Semaphore {
  readonly #waiting = new Set<Waiting>()
  #free: number
  #holders = 0

  constructor(count: number) {
    this.#free = count
  }

  get waiting() {
    return this.#waiting.size
  }

  get isIdle() {
    return this.#holders === 0
  }

  /**
   * Resolves when the caller holds its permits; disposing of the result releases them. An abort ends the wait
   * and throws its reason; it doesn't affect other callers.
   */
  async acquire(signal?: AbortSignal, weight = 1): Promise<Disposable> {
    signal?.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { weight, start: resolve }
    const leave = () => {
      if (this.#waiting.delete(waiting)) reject(signal!.reason)
      this.#admit()
    }
    this.#waiting.add(waiting)
    signal?.addEventListener('abort', leave, { once: true })
    this.#admit()
    await promise.finally(() => signal?.removeEventListener('abort', leave))
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        this.#free += weight
        this.#holders--
        this.#admit()
      },
    }
  }

  /** No one overtakes an earlier caller, however few permits they need. */
  #admit() {
    for (const waiting of this.#waiting) {
      if (waiting.weight > this.#free) return
      this.#waiting.delete(waiting)
      this.#free -= waiting.weight
      this.#holders++
      waiting.start()
    }
  }
}

/** Throws `unavailable` with this message while `maxWaiting` others wait. */
export async function inTurn<Result>(
  semaphore: Semaphore,
  { maxWaiting, full, retryAfter }: { maxWaiting: number; full: string; retryAfter: number },
  work: () => Promise<Result>,
): Promise<Result> {
  if (semaphore.waiting >= maxWaiting) throw new AppError('unavailable', full, { retryAfter })
  using _ = await semaphore.acquire()
  return await work()
}

/** Runs work one at a time, or `count` at a time, for each key. */
export class KeyedLock {
  readonly #locks = new Map<string, Semaphore>()

  constructor(readonly count = 1) {}

  /** True when some work holds the key or waits for it. */
  isLocked(key: string) {
    return this.#locks.has(key)
  }

  /**
   * Waits for the key, then runs the work. An abort ends the wait with the signal's reason. Work with the
   * weight `count` runs alone.
   */
  async run<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>, weight = 1) {
    const lock = this.#locks.get(key) ?? new Semaphore(this.count)
    this.#locks.set(key, lock)
    try {
      using _ = await lock.acquire(signal, weight)
      signal.throwIfAborted()
      return await work()
    } finally {
      if (lock.isIdle) this.#locks.delete(key)
    }
  }
}
