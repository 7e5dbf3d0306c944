import { Hub } from './hub.ts'
import { ticks } from './ticks.ts'

/** Minimum milliseconds between two reports to one reader. */
const interval = 1000

/** Seconds after which a reader is notified in any case. */
const longest = 60

const all = 'all'

/** `every` is in seconds. */
export type Watch = { since?: string | undefined; about?: string | undefined; every?: number }

/**
 * Reports that something on pages has changed, but not what: readers read it again. They compare versions, so
 * that a change while a reader was away is noticed when it is back.
 */
export class ChangeFeed {
  readonly #hub = new Hub<void>()
  /** Another process counts from another start. */
  readonly #start = crypto.randomUUID().slice(0, 8)
  #count = 0

  /** The version of everything. Read it before the data that it describes. */
  get version() {
    return `${this.#start}-${this.#count}`
  }

  /** Call it when a change can be read. With `about`, only that channel's readers are notified. */
  touch(about = all) {
    this.#count++
    this.#hub.publish(about, undefined)
  }

  /** Calls `wake` at each change, until the signal. */
  listen(signal: AbortSignal, wake: () => void, about?: string) {
    for (const channel of about ? [all, about] : [all])
      this.#hub.listen(channel, signal, { push: wake })
  }

  /** Yields the version at once, and then whenever it may be worth reading again. */
  async *follow(
    { since, about, every = longest }: Watch,
    signal: AbortSignal,
  ): AsyncGenerator<{ version: string; isNew: boolean }> {
    const listen = (wake: () => void) => this.listen(signal, wake, about)
    let isFirst = true
    for await (const _ of ticks(listen, { signal, interval, longest: every * 1000 })) {
      const { version } = this
      yield { version, isNew: !isFirst || since !== version }
      isFirst = false
    }
  }
}
