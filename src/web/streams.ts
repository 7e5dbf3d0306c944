import { AppError } from '../errors.ts'

/** The open event streams: how many each user has, and the signal that ends them all at shutdown. */
export class Streams {
  readonly #open = new Map<string, number>()
  readonly #shutdown = new AbortController()

  constructor(readonly limit: number) {}

  /** Aborted when Davit stops; clients then reconnect to the next process. */
  get shutdown() {
    return this.#shutdown.signal
  }

  get size() {
    return this.#open.values().reduce((sum, count) => sum + count, 0)
  }

  /** Counts one more stream of a user until the returned function is called; over the limit it refuses. */
  enter(userId: string) {
    const count = this.#open.get(userId) ?? 0
    if (count >= this.limit)
      throw new AppError(
        'too_many',
        `You have ${count} live streams open, which is the limit. Close a tab, then try again.`,
        { retryAfter: 5 },
      )
    this.#open.set(userId, count + 1)
    let left = false
    return () => {
      if (left) return
      left = true
      const rest = this.#open.get(userId)! - 1
      if (rest > 0) this.#open.set(userId, rest)
      else this.#open.delete(userId)
    }
  }

  endAll() {
    this.#shutdown.abort()
  }
}
