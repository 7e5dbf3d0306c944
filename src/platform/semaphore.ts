/** Lets at most `count` callers hold it at a time; the others wait in the order in which they came. */
export class Semaphore {
  readonly #waiting = new Set<() => void>()
  readonly #count: number
  #held = 0

  constructor(count: number) {
    this.#count = count
  }

  /** How many wait. */
  get waiting() {
    return this.#waiting.size
  }

  get isIdle() {
    return this.#held === 0
  }

  /**
   * Resolves when it is the caller's turn, which lasts until the result is disposed of. An abort ends
   * the wait, and only that: whoever holds it or waits behind notices nothing. Throws its reason.
   */
  async acquire(signal?: AbortSignal): Promise<Disposable> {
    signal?.throwIfAborted()
    if (this.#held < this.#count) this.#held++
    else await this.#wait(signal)
    let isLocked = true
    return {
      [Symbol.dispose]: () => {
        if (isLocked) this.#release()
        isLocked = false
      },
    }
  }

  async #wait(signal?: AbortSignal) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      if (this.#waiting.delete(resolve)) reject(signal!.reason)
    }
    this.#waiting.add(resolve)
    signal?.addEventListener('abort', leave, { once: true })
    await promise.finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Hands the turn to whoever has waited longest. */
  #release() {
    const [next] = this.#waiting
    if (!next) return void this.#held--
    this.#waiting.delete(next)
    next()
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
