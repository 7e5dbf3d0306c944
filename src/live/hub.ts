/** Messages a subscriber may fall behind by before they are dropped and it is told so. */
const maxBacklog = 64

/** Stands in the place of dropped messages: read again from where they were stored. */
export const lagged = Symbol('lagged')

/** In-memory fan-out, one channel per key. Holds no history: what must survive is stored before it is published. */
export class Hub<Message> {
  readonly #channels = new Map<string, Set<Subscription<Message>>>()

  publish(channel: string, message: Message) {
    for (const subscriber of this.#channels.get(channel) ?? []) subscriber.push(message)
  }

  /** Subscribes at once, so that nothing published between this call and the first `next()` is lost. */
  subscribe(channel: string, signal: AbortSignal) {
    return this.#enter(channel, { signal, backlog: [] })
  }

  /** The same for one who begins with what is stored: a new reader is one that lags. */
  follow(channel: string, signal: AbortSignal) {
    return this.#enter(channel, { signal, backlog: [lagged] })
  }

  /** Open subscriptions. */
  get size() {
    return this.#channels.values().reduce((sum, subscribers) => sum + subscribers.size, 0)
  }

  #enter(
    channel: string,
    { signal, backlog }: { signal: AbortSignal; backlog: (Message | typeof lagged)[] },
  ) {
    const end = () => subscription.end()
    const subscription = new Subscription(backlog, () => {
      signal.removeEventListener('abort', end)
      this.#leave(channel, subscription)
    })
    if (signal.aborted) end()
    else {
      signal.addEventListener('abort', end, { once: true })
      const subscribers = this.#channels.get(channel) ?? new Set()
      this.#channels.set(channel, subscribers.add(subscription))
    }
    return subscription
  }

  #leave(channel: string, subscription: Subscription<Message>) {
    const subscribers = this.#channels.get(channel)
    subscribers?.delete(subscription)
    if (subscribers?.size === 0) this.#channels.delete(channel)
  }
}

type Result<Message> = IteratorResult<Message | typeof lagged, undefined>

const over = { done: true, value: undefined } as const

/**
 * What one subscriber has not taken yet. It could be an async generator, but a thousand of them wake
 * at every message, and each step of one costs.
 */
class Subscription<Message> implements AsyncIterableIterator<Message | typeof lagged, undefined> {
  readonly #backlog: (Message | typeof lagged)[]
  readonly #leave: () => void
  #waiting: ((result: Result<Message>) => void) | null = null
  #ended = false

  constructor(backlog: (Message | typeof lagged)[], leave: () => void) {
    this.#backlog = backlog
    this.#leave = leave
  }

  push(message: Message) {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) return waiting({ done: false, value: message })
    if (this.#backlog[0] === lagged) return // it will be found with the rest
    if (this.#backlog.length >= maxBacklog) this.#backlog.splice(0, this.#backlog.length, lagged)
    else this.#backlog.push(message)
  }

  next(): Promise<Result<Message>> {
    if (this.#ended) return Promise.resolve(over)
    if (this.#backlog.length > 0)
      return Promise.resolve({ done: false, value: this.#backlog.shift()! })
    return new Promise((resolve) => (this.#waiting = resolve))
  }

  return() {
    this.end()
    return Promise.resolve(over)
  }

  end() {
    if (this.#ended) return
    this.#ended = true
    this.#backlog.length = 0
    this.#waiting?.(over)
    this.#leave()
  }

  [Symbol.asyncIterator]() {
    return this
  }
}
