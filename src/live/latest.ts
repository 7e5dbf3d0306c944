/** The newest of a series of values, for any number who follow it: who is slow misses those in between. */
export class Latest<Value> {
  readonly #wakes = new Set<() => void>()
  #value: Value | undefined
  #version = 0
  #ended = false

  get value() {
    return this.#value
  }

  set(value: Value) {
    this.#value = value
    this.#version++
    this.#wake()
  }

  /** Who follows it gets the last value, and comes to the end. */
  end() {
    this.#ended = true
    this.#wake()
  }

  /** Yields the value that is there at once, and each one that is there when the follower is. */
  async *follow(signal: AbortSignal): AsyncGenerator<Value> {
    let seen = 0
    while (!signal.aborted) {
      if (this.#version > seen) {
        seen = this.#version
        yield this.#value!
      } else if (this.#ended) return
      else await this.#news(signal)
    }
  }

  #news(signal: AbortSignal) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const wake = () => {
      this.#wakes.delete(wake)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    this.#wakes.add(wake)
    signal.addEventListener('abort', wake, { once: true })
    return promise
  }

  #wake() {
    for (const wake of [...this.#wakes]) wake()
  }
}
