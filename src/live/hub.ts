/** Messages a reader may lag behind before they are dropped and it gets `resync`. */
const maxBacklog = 64

/** Replaces messages that may have been missed: read them from where they are stored. */
export const resync = Symbol('resync')

/**
 * In-memory fan-out, one channel per key. A slow reader delays no one: it gets `resync` instead of what it
 * missed, or only the newest message. Holds no history: what must survive is stored before it is published.
 */
export class Hub<Message> {
  readonly #channels = new Map<string, Set<Listener<Message>>>()

  publish(channel: string, message: Message) {
    for (const listener of this.#channels.get(channel) ?? []) listener.push(message)
  }

  /** Yields every message. Subscribes at once: nothing published before the first `next()` is lost. */
  subscribe(channel: string, signal: AbortSignal) {
    const reader = new Reader<Message | typeof resync>([], { overflow: resync })
    return this.#read(channel, signal, reader)
  }

  /** Like `subscribe`, but begins with `resync`: a new reader has missed everything. */
  follow(channel: string, signal: AbortSignal) {
    const reader = new Reader<Message | typeof resync>([resync], { overflow: resync })
    return this.#read(channel, signal, reader)
  }

  /** Yields the newest message whenever the reader continues, beginning with `first`. */
  newest(channel: string, signal: AbortSignal, first?: Message) {
    return this.#read(channel, signal, new Reader<Message>(first === undefined ? [] : [first]))
  }

  /** Calls back for each message until the signal. The callback must return at once. */
  listen(channel: string, signal: AbortSignal, listener: Listener<Message>) {
    const leave = () => {
      signal.removeEventListener('abort', end)
      const listeners = this.#channels.get(channel)
      listeners?.delete(listener)
      if (listeners?.size === 0) this.#channels.delete(channel)
    }
    const end = () => {
      leave()
      listener.end?.()
    }
    if (signal.aborted) listener.end?.()
    else {
      signal.addEventListener('abort', end, { once: true })
      this.#channels.set(channel, (this.#channels.get(channel) ?? new Set()).add(listener))
    }
    return leave
  }

  isHeard(channel: string) {
    return this.#channels.has(channel)
  }

  get size() {
    return this.#channels.values().reduce((sum, listeners) => sum + listeners.size, 0)
  }

  #read<Item>(channel: string, signal: AbortSignal, reader: Reader<Message | Item>) {
    reader.leave = this.listen(channel, signal, reader)
    return reader
  }
}

type Listener<Message> = { push: (message: Message) => void; end?: () => void }

const over = { done: true, value: undefined } as const

/**
 * The messages that one reader hasn't read yet. Not an async generator: a thousand of them wake at every
 * message, and each step of one is expensive.
 */
class Reader<Item> implements AsyncIterableIterator<Item, undefined> {
  leave = () => {}
  readonly #backlog: Item[]
  /** Replaces a backlog that is too long; without it only the newest item is kept. */
  readonly #overflow: Item | undefined
  /** True until it reads the overflow: messages before that are dropped, since it reads everything again. */
  #lags: boolean
  #waiting: ((result: IteratorResult<Item, undefined>) => void) | null = null
  #ended = false

  constructor(backlog: Item[], { overflow }: { overflow?: Item } = {}) {
    this.#backlog = backlog
    this.#overflow = overflow
    this.#lags = overflow !== undefined && backlog.length > 0
  }

  push(item: Item) {
    const waiting = this.#waiting
    this.#waiting = null
    if (waiting) return waiting({ done: false, value: item })
    if (this.#lags) return
    if (this.#overflow === undefined) this.#backlog[0] = item
    else if (this.#backlog.length < maxBacklog) this.#backlog.push(item)
    else {
      this.#backlog.splice(0, maxBacklog, this.#overflow)
      this.#lags = true
    }
  }

  next(): Promise<IteratorResult<Item, undefined>> {
    if (this.#ended) return Promise.resolve(over)
    if (this.#backlog.length === 0) return new Promise((resolve) => (this.#waiting = resolve))
    this.#lags = false
    return Promise.resolve({ done: false, value: this.#backlog.shift()! })
  }

  return() {
    this.end()
    return Promise.resolve(over)
  }

  end() {
    this.#ended = true
    this.#backlog.length = 0
    this.#waiting?.(over)
    this.leave()
  }

  [Symbol.asyncIterator]() {
    return this
  }
}
