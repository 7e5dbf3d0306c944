export const kinds = [
  ...(['kept', 'fresh', 'http2', 'websocket', 'events', 'upload', 'download'] as const),
]
export type Kind = (typeof kinds)[number]

export type Tally = {
  /** Of each kind, those that an instance has begun to answer. */
  begun: Record<Kind, number>
  /** Of each kind, those that ended as they must. */
  done: Record<Kind, number>
  /** Requests that were refused, reset, late, or answered wrongly. */
  failed: number
  /** Streams that had begun and did not come to their end. */
  cut: number
  /** Streams whose instance the test has killed. */
  lost: number
  /** The first of them of each kind that failed and that were cut, with the time of day. */
  reasons: string[]
  /** Milliseconds that a request took at most. */
  slowest: number
}

/** What a stream had begun with when it was cut off. */
export class Cut extends Error {
  readonly instance: string | null

  constructor(message: string, instance: string | null) {
    super(message)
    this.instance = instance
  }
}

/** Of each kind, whether failed or cut. */
const mostReasons = 5

const none = () => Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>

/** Counts, and knows which versions may answer: a request those of all its time. */
export class Counter {
  readonly tally: Tally = {
    begun: none(),
    done: none(),
    ...{ failed: 0, cut: 0, lost: 0, slowest: 0, reasons: [] },
  }
  readonly #allowed: string[][]
  readonly #killed = new Set<string>()

  constructor(versions: string[]) {
    this.#allowed = [versions]
  }

  /** From now on these answer, and no others. */
  allow(versions: string[]) {
    this.#allowed.push(versions)
  }

  /** Its streams end with it. */
  kill(instance: string) {
    this.#killed.add(instance)
  }

  /** One request or stream, to its end. */
  async count(kind: Kind, work: (check: (version: string | null) => void) => Promise<void>) {
    const since = this.#allowed.length - 1
    const from = performance.now()
    const check = (version: string | null) => {
      const allowed = new Set(this.#allowed.slice(since).flat())
      if (!allowed.has(version ?? ''))
        throw new Error(`${version} answers, not ${[...allowed].join(' or ')}`)
      this.tally.begun[kind]++
    }
    try {
      await work(check)
      this.tally.done[kind]++
    } catch (error) {
      this.#note(kind, error as Error, performance.now() - from)
    }
    if (kind === 'kept' || kind === 'fresh' || kind === 'http2')
      this.tally.slowest = Math.max(this.tally.slowest, performance.now() - from)
  }

  #note(kind: Kind, error: Error, after: number) {
    if (error instanceof Cut && this.#killed.has(error.instance ?? '')) {
      this.tally.lost++
      return
    }
    if (error instanceof Cut) this.tally.cut++
    else this.tally.failed++
    const what = `${kind} ${error instanceof Cut ? 'cut' : 'failed'}`
    const same = this.tally.reasons.filter((reason) => reason.includes(` ${what} `))
    if (same.length >= mostReasons) return
    const time = new Date().toISOString().slice(11, 23)
    this.tally.reasons.push(`${time} ${what} after ${Math.round(after)} ms: ${error.message}`)
  }
}
