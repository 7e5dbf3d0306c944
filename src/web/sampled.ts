import { within } from './within.ts'

/** Milliseconds that a page waits for a fresh value when it can show an older one, or say that it comes. */
const waitMs = 50

/** A value that takes long to read. One reading at a time serves all who ask; it goes on without them. */
export class Sampled<Value> {
  /** As it was last read. */
  latest: { value: Value; at: Date } | null = null
  #reading: { work: Promise<Value>; from: number } | null = null
  readonly #read: () => Promise<Value>
  readonly #lasts: number

  /** `lasts` is for how many milliseconds a page shows it without reading it again. */
  constructor(read: () => Promise<Value>, { lasts = 0 }: { lasts?: number } = {}) {
    this.#read = read
    this.#lasts = lasts
  }

  /** The value for a page: null when to read it takes longer than a page waits. Fails as the reading does. */
  look(): Promise<Value | null> {
    const { latest } = this
    if (latest && Date.now() - latest.at.getTime() < this.#lasts)
      return Promise.resolve(latest.value)
    return within(waitMs, this.fresh())
  }

  /** Waits until it is read, again if it isn't being read. */
  fresh(): Promise<Value> {
    this.#reading ??= { work: this.#begin(), from: performance.now() }
    return this.#reading.work
  }

  /** Milliseconds for which it has been read; 0 when it isn't. */
  get pending() {
    return this.#reading ? performance.now() - this.#reading.from : 0
  }

  async #begin() {
    try {
      const value = await this.#read()
      this.latest = { value, at: new Date() }
      return value
    } finally {
      this.#reading = null
    }
  }
}
