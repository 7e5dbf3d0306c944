import { sleepUnlessWoken, unlessAborted } from '../platform/pause.ts'

/** The waits of a reader, which an event ends early. */
export class Rest {
  readonly #signal: AbortSignal
  #wake = Promise.withResolvers<void>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
  }

  /** Events from now on end the waits until the next call. */
  begin() {
    this.#wake = Promise.withResolvers()
  }

  end() {
    this.#wake.resolve()
  }

  /** Resolves after so many milliseconds at the latest, and when `ring` or the signal is earlier. */
  upTo(milliseconds: number, ring?: Promise<void>) {
    const own = this.#wake.promise
    const wakers = ring ? [own, ring] : [own]
    return sleepUnlessWoken(milliseconds, { signal: this.#signal, wakers })
  }

  /** Resolves at the next event, however late that is. Throws when the signal aborts. */
  untilEvent() {
    this.begin()
    return unlessAborted(this.#wake.promise, this.#signal)
  }
}
