/** Bytes that several may take at once; who needs more than is left waits, in the order they came. */
export class ByteBudget {
  #left: number
  readonly #waiting = new Set<{ bytes: number; start: () => void }>()

  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Resolves when there are so many, which are given back when the result is disposed of. */
  async take(bytes: number, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting = { bytes, start: resolve }
    const leave = () => {
      if (this.#waiting.delete(waiting)) reject(signal.reason)
      this.#startNext()
    }
    this.#waiting.add(waiting)
    signal.addEventListener('abort', leave, { once: true })
    this.#startNext()
    await promise.finally(() => signal.removeEventListener('abort', leave))
    return {
      [Symbol.dispose]: () => {
        this.#left += bytes
        this.#startNext()
      },
    }
  }

  #startNext() {
    for (const waiting of this.#waiting) {
      if (waiting.bytes > this.#left) return
      this.#waiting.delete(waiting)
      this.#left -= waiting.bytes
      waiting.start()
    }
  }
}
