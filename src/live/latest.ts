/** The newest of a series of values, for any number who follow it: who is slow misses those in between. */
export class Latest<Value> {
  readonly #wakes = new Set<() => void>()
  #value: Value | undefined
  #version = 0
  #ended = false

  set(value: Value) {
    this.#value = value
    this.#version++
    this.#wake()
  }

  /** Who follows it, now or later, gets the last value and comes to the end. */
  end() {
    this.#ended = true
    this.#wake()
  }

  /** Yields the value that is there at once, and then the newest whenever the follower comes back. */
  async *follow(signal: AbortSignal): AsyncGenerator<Value> {
    let seen = 0
    let news = Promise.withResolvers<void>()
    const wake = () => news.resolve()
    const leave = () => {
      this.#wakes.delete(wake)
      wake()
    }
    this.#wakes.add(wake)
    signal.addEventListener('abort', leave, { once: true })
    try {
      while (!signal.aborted) {
        if (this.#version > seen) {
          seen = this.#version
          yield this.#value!
        } else if (this.#ended) return
        else {
          await news.promise
          news = Promise.withResolvers()
        }
      }
    } finally {
      signal.removeEventListener('abort', leave)
      leave()
    }
  }

  #wake() {
    for (const wake of this.#wakes) wake()
  }
}
