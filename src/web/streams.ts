import { AppError } from '../platform/errors.ts'

type Stream = {
  /** False once the login that opened it has ended, or has other rights than it had then. */
  isAllowed: () => boolean
  end: () => void
}

/** The open event streams of each user, and the signal that ends them all at shutdown. */
export class Streams {
  readonly #open = new Map<string, Set<Stream>>()
  readonly #shutdown = new AbortController()

  constructor(readonly limit: number) {}

  /** Aborted when Davit stops; clients then reconnect to the next process. */
  get shutdown() {
    return this.#shutdown.signal
  }

  get size() {
    return this.#open.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** Keeps one more stream of a user until the returned function is called; over the limit it refuses. */
  enter(userId: string, stream: Stream) {
    const own = this.#open.get(userId) ?? new Set()
    if (own.size >= this.limit)
      throw new AppError(
        'too_many',
        `You have ${own.size} live streams open, which is the limit. Close a tab, then try again.`,
        { retryAfter: 5 },
      )
    this.#open.set(userId, own.add(stream))
    return () => {
      own.delete(stream)
      if (own.size === 0) this.#open.delete(userId)
    }
  }

  /** Ends those that are no longer allowed; called after each change of users, logins and tokens. */
  recheck() {
    const all = this.#open.values().flatMap((own) => own)
    for (const { isAllowed, end } of [...all]) if (!isAllowed()) end()
  }

  endAll() {
    this.#shutdown.abort()
  }
}
