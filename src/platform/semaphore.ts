type Waiting = { weight: number; start: () => void }

/**
 * Lets callers hold at most so much of it at a time, each one unless it says more; the others wait in
 * the order in which they came.
 */
export class Semaphore {
  readonly #waiting = new Set<Waiting>()
  #free: number
  #holders = 0

  constructor(count: number) {
    this.#free = count
  }

  /** How many wait. */
  get waiting() {
    return this.#waiting.size
  }

  get isIdle() {
    return this.#holders === 0
  }

  /**
   * Resolves when it is the caller's turn, which lasts until the result is disposed of. An abort ends
   * the wait, and only that: whoever holds it or waits behind notices nothing. Throws its reason.
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

  /** Nobody passes one who came before, however little they need. */
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

/** Runs work one at a time for each key. */
export class KeyedLock {
  readonly #locks = new Map<string, Semaphore>()

  /** Whether some work has the key or waits for it. */
  isLocked(key: string) {
    return this.#locks.has(key)
  }

  /** Waits for its turn, then works; an abort ends the wait with the signal's reason. */
  async run<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>) {
    const lock = this.#locks.get(key) ?? new Semaphore(1)
    this.#locks.set(key, lock)
    try {
      using _ = await lock.acquire(signal)
      signal.throwIfAborted()
      return await work()
    } finally {
      if (lock.isIdle) this.#locks.delete(key)
    }
  }
}
