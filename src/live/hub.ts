/** Messages a subscriber may fall behind by before they are dropped and it is told so. */
const maxBacklog = 64

/** Stands in the place of dropped messages: read again from where they were stored. */
export const lagged = Symbol('lagged')

type Subscriber<Message> = { push(message: Message): void }

/** In-memory fan-out, one channel per key. Holds no history: what must survive is stored before it is published. */
export class Hub<Message> {
  readonly #channels = new Map<string, Set<Subscriber<Message>>>()

  publish(channel: string, message: Message) {
    for (const subscriber of this.#channels.get(channel) ?? []) subscriber.push(message)
  }

  /** Subscribes at once, so that nothing published between this call and the first `next()` is lost. */
  subscribe(channel: string, signal: AbortSignal): AsyncIterable<Message | typeof lagged> {
    const backlog: (Message | typeof lagged)[] = []
    let wake = Promise.withResolvers<void>()
    const subscriber = {
      push(message: Message) {
        if (backlog[0] === lagged) return // it will be found with the rest
        if (backlog.length >= maxBacklog) backlog.splice(0, backlog.length, lagged)
        else backlog.push(message)
        wake.resolve()
      },
    }
    const leave = () => {
      this.#leave(channel, subscriber)
      wake.resolve()
    }
    if (!signal.aborted) this.#enter(channel, subscriber)
    signal.addEventListener('abort', leave, { once: true })

    return (async function* () {
      try {
        while (!signal.aborted) {
          while (backlog.length > 0) yield backlog.shift()!
          await wake.promise
          wake = Promise.withResolvers()
        }
      } finally {
        signal.removeEventListener('abort', leave)
        leave()
      }
    })()
  }

  /** Open subscriptions. */
  get size() {
    return this.#channels.values().reduce((sum, subscribers) => sum + subscribers.size, 0)
  }

  #enter(channel: string, subscriber: Subscriber<Message>) {
    const subscribers = this.#channels.get(channel) ?? new Set()
    this.#channels.set(channel, subscribers.add(subscriber))
  }

  #leave(channel: string, subscriber: Subscriber<Message>) {
    const subscribers = this.#channels.get(channel)
    subscribers?.delete(subscriber)
    if (subscribers?.size === 0) this.#channels.delete(channel)
  }
}
