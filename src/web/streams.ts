import { AppError } from '../platform/errors.ts'

type Stream = {
  /** False once the login that opened it has ended, or its rights have changed. */
  isAllowed: () => boolean
  end: () => void
}

/** Milliseconds within which a stream ends after its session expired or another process ended it. */
export const sessionCheck = 3_000

/** The open streams and terminals of each user, and the signal that ends them all at shutdown. */
export class Streams {
  readonly #open = new Map<string, Set<Stream>>()
  readonly #shutdown = new AbortController()
  readonly #ended = Promise.withResolvers<void>()

  constructor(readonly limit: number) {}

  /** Aborted when Davit stops; clients then reconnect to the next process. */
  get shutdown() {
    return this.#shutdown.signal
  }

  get size() {
    return this.#open.values().reduce((sum, { size }) => sum + size, 0)
  }

  /** Registers a stream of a user until the returned function is called. Throws over the limit. */
  enter(userId: string, stream: Stream) {
    this.refuseMore(userId)
    const own = this.#open.get(userId) ?? new Set()
    this.#open.set(userId, own.add(stream))
    return () => {
      own.delete(stream)
      if (own.size === 0) this.#open.delete(userId)
      this.#noticeEnd()
    }
  }

  /** Throws if the user can't open another one. */
  refuseMore(userId: string) {
    const { size = 0 } = this.#open.get(userId) ?? {}
    if (size >= this.limit)
      throw new AppError(
        'too_many',
        `You have ${size} live streams open, the maximum. Close a tab, then try again.`,
        { retryAfter: 5 },
      )
  }

  /** Ends streams that are no longer allowed. Call it after each change of users, logins and tokens. */
  recheck() {
    const all = this.#open.values().flatMap((own) => own)
    for (const { isAllowed, end } of [...all]) if (!isAllowed()) end()
  }

  /** Resolves when the last of them has ended. */
  endAll() {
    this.#shutdown.abort()
    this.#noticeEnd()
    return this.#ended.promise
  }

  #noticeEnd() {
    if (this.shutdown.aborted && this.#open.size === 0) this.#ended.resolve()
  }
}
