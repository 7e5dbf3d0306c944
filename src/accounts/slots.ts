/** Runs at most `count` tasks at once; the rest wait in order, and one more than may wait is refused. */
export class Slots {
  readonly #queue: (() => void)[] = []
  readonly #options: { count: number; waiting: number; refusal: () => Error }
  #free: number

  constructor(options: { count: number; waiting: number; refusal: () => Error }) {
    this.#options = options
    this.#free = options.count
  }

  async run<Result>(task: () => Promise<Result>) {
    await this.#enter()
    try {
      return await task()
    } finally {
      this.#leave()
    }
  }

  async #enter() {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    if (this.#queue.length >= this.#options.waiting) throw this.#options.refusal()
    await new Promise<void>((resolve) => this.#queue.push(resolve))
  }

  /** Hands the slot to whoever has waited longest. */
  #leave() {
    const next = this.#queue.shift()
    if (next) next()
    else this.#free += 1
  }
}
