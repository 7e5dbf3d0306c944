import { Writable } from 'node:stream'

type Limits = {
  /** Milliseconds for everything. */
  total?: number
  /** Milliseconds without any progress, while restic has something to do. */
  stall?: number
  /** The reason when one has passed. */
  late: () => Error
}

/** Ends what takes too long. Time in which restic waits for us doesn't count. */
export class Watch implements Disposable {
  readonly signal: AbortSignal
  readonly #late = new AbortController()
  readonly #timer
  readonly #limits
  #last = performance.now()
  /** Bytes of its input so far. */
  bytes = 0
  /** True while restic waits for input, or for its output to be read. */
  #isOurs = false

  constructor(outer: AbortSignal, limits: Limits) {
    this.#limits = limits
    this.signal = AbortSignal.any([outer, this.#late.signal])
    const { total, stall = total! } = limits
    this.#timer = setInterval(() => this.#look(), stall / 10)
  }

  progressed() {
    if (this.#limits.total === undefined) this.#last = performance.now()
  }

  #look() {
    if (this.#isOurs) this.progressed()
    const { total, stall = total! } = this.#limits
    if (performance.now() - this.#last >= stall) this.end(this.#limits.late())
  }

  end(reason: Error) {
    this.#late.abort(reason)
  }

  /** Call it when all was written: from now on restic has something to do. */
  written() {
    this.#isOurs = false
    this.progressed()
  }

  /** The same stream, watched. */
  writing(to: Writable) {
    this.#isOurs = true
    const watched = new Writable({
      write: (chunk, _, done) => {
        this.#isOurs = false
        this.bytes += chunk.length
        to.write(chunk, (error) => {
          this.#isOurs = true
          this.progressed()
          done(error)
        })
      },
    })
    return watched.on('error', () => {}) // the writer gets it
  }

  async *reading(from: AsyncIterable<Uint8Array>) {
    for await (const chunk of from) {
      this.progressed()
      this.#isOurs = true
      yield chunk
      this.#isOurs = false
      this.progressed()
    }
  }

  [Symbol.dispose]() {
    clearInterval(this.#timer)
  }
}
