import { Hub } from './hub.ts'
import { ticks } from './ticks.ts'

/** Milliseconds that at least lie between two reports to one reader. */
const interval = 1000

/** Seconds after which a reader is told to look again in any case. */
const longest = 60

const all = 'all'

/** What a reader asks for: `every` in seconds. */
export type Watch = { since?: string | undefined; about?: string | undefined; every?: number }

/**
 * Says that something which pages show has changed, not what: whoever looks at it reads it again. Its
 * versions are compared, so that what changed while a reader was away is noticed when it is back.
 */
export class ChangeFeed {
  readonly #hub = new Hub<void>()
  /** Another process counts from another start. */
  readonly #start = crypto.randomUUID().slice(0, 8)
  #count = 0

  /** The version of everything. Read it before what is shown. */
  get version() {
    return `${this.#start}-${this.#count}`
  }

  /** Call it when a change is stored or can be read. With `about`, only its readers are told. */
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
