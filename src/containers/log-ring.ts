import { resync } from '../live/hub.ts'

type Limits = {
  /** Bytes that are kept for readers that fall behind. */
  size: number
  /** Items that may be pushed before the fastest reader took one. */
  ahead: number
}

/**
 * The newest items, once for all readers. One that does not read costs nothing and stops nobody; it is
 * told `resync` when what it would read is gone. The writer goes at the pace of the fastest.
 */
export class LogRing<Item extends { size: number }> {
  readonly #limits: Limits
  readonly #readers = new Set<() => void>()
  #items: Item[] = []
  #size = 0
  /** The number of the first item. */
  #first = 0
  /** The number after the last item that some reader took. */
  #taken = 0
  #closed = false
  #room = Promise.withResolvers<void>()

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** The number that the next item will have. */
  get next() {
    return this.#first + this.#items.length
  }

  push(item: Item) {
    this.#items.push(item)
    this.#size += item.size
    while (this.#size > this.#limits.size && this.#items.length > 1) {
      this.#size -= this.#items.shift()!.size
      this.#first++
    }
    this.#wake()
  }

  /** Ends all readers when they have read the rest. */
  close() {
    this.#closed = true
    this.#wake()
  }

  /** Resolves when another item may be pushed. */
  async room(signal: AbortSignal) {
    if (!this.#isFull) return
    const stop = () => this.#room.resolve()
    signal.addEventListener('abort', stop, { once: true })
    while (this.#isFull && !signal.aborted) {
      this.#room = Promise.withResolvers()
      await this.#room.promise
    }
    signal.removeEventListener('abort', stop)
  }

  get #isFull() {
    return this.next - Math.max(this.#taken, this.#first) >= this.#limits.ahead
  }

  /** Items with their numbers, the newest first. */
  *backwards(): Generator<[number, Item]> {
    for (let at = this.#items.length - 1; at >= 0; at--) yield [this.#first + at, this.#items[at]!]
  }

  /** Items from that number on; ends after `resync`. */
  async *from(number: number, signal: AbortSignal): AsyncGenerator<Item | typeof resync> {
    let wake = () => {}
    const reader = () => wake()
    this.#readers.add(reader)
    signal.addEventListener('abort', reader, { once: true })
    try {
      while (!signal.aborted) {
        if (number < this.#first) return yield resync
        if (number < this.next) {
          const item = this.#items[number++ - this.#first]!
          this.#take(number)
          yield item
        } else if (this.#closed) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    } finally {
      this.#readers.delete(reader)
      signal.removeEventListener('abort', reader)
    }
  }

  #take(number: number) {
    if (number <= this.#taken) return
    this.#taken = number
    this.#room.resolve()
  }

  #wake() {
    for (const wake of this.#readers) wake()
  }
}
