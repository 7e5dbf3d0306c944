import { within } from '../platform/pause.ts'

/** Milliseconds that a page waits for a fresh value before it shows an older one, or none. */
const waitMs = 50

/** A value that takes long to read. All callers share one reading, which continues without them. */
export class Sampled<Value> {
  /** Null before the first reading has ended. */
  latest: { value: Value; at: Date } | null = null
  #reading: { work: Promise<Value>; from: number } | null = null
  readonly #read: () => Promise<Value>
  readonly #lasts: number

  /** A page shows a value for `lasts` milliseconds without reading it again. */
  constructor(read: () => Promise<Value>, { lasts = 0 }: { lasts?: number } = {}) {
    this.#read = read
    this.#lasts = lasts
  }

  /** The value for a page; null when reading takes longer than it waits. Fails as the reading does. */
  look(timeoutMs = waitMs): Promise<Value | null> {
    const { latest } = this
    if (latest && Date.now() - latest.at.getTime() < this.#lasts)
      return Promise.resolve(latest.value)
    return within(timeoutMs, this.fresh())
  }

  /** Joins the current reading, or starts one. */
  fresh(): Promise<Value> {
    this.#reading ??= { work: this.#begin(), from: performance.now() }
    return this.#reading.work
  }

  /** Milliseconds since the current reading started; 0 without one. */
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
