/** What time is spent on: a step has the others within it, and `davit` is its own work. */
export const spanKinds = ['step', 'docker', 'git', 'edge', 'wait', 'davit'] as const
export type SpanKind = (typeof spanKinds)[number]

export type Span = {
  kind: SpanKind
  name: string
  /** What it was about, such as a container; empty for nothing. */
  detail: string
  /** Milliseconds since the start of the trace. */
  start: number
  milliseconds: number
  /** Calls that are one span, because there were too many. */
  count: number
  failed: boolean
}

type Label = Pick<Span, 'kind' | 'name'> & { detail?: string }

/** After these, equal calls are one span: a health check is asked for hundreds of times. */
const mostEqual = 10
const maxSpans = 500
const longestDetail = 400 // a private name of an image must be complete to be replaced

/** Notes what work takes, in memory and bounded. */
export class Trace {
  /** Milliseconds since 1970. */
  readonly startedAt = Date.now()
  readonly spans: Span[] = []
  /** Those that were too many. */
  dropped = 0
  readonly #zero = performance.now()
  readonly #equal = new Map<string, { count: number; rest: Span | null }>()
  #step: Span | null = null
  #isEnded = false

  enter(name: string) {
    this.#endStep()
    this.#step = this.#begin({ kind: 'step', name })
  }

  begin(label: Label): (failed?: boolean) => void {
    const span = this.#begin(label)
    return (failed = false) => {
      if (!span || this.#isEnded) return
      span.milliseconds = this.#now() - span.start
      span.failed ||= failed
    }
  }

  /** What hasn't ended yet ends now, and nothing is noted any more. Returns the milliseconds of all. */
  end() {
    this.#endStep()
    const now = this.#now()
    for (const span of this.spans) if (span.milliseconds < 0) span.milliseconds = now - span.start
    this.#isEnded = true
    return now
  }

  #endStep() {
    if (this.#step) this.#step.milliseconds = this.#now() - this.#step.start
  }

  #now = () => performance.now() - this.#zero

  #begin({ kind, name, detail = '' }: Label): Span | null {
    if (this.#isEnded) return null
    const shortened = detail.slice(0, longestDetail)
    const equal = this.#equal.getOrInsertComputed(
      `${this.#step?.name} ${kind} ${name} ${shortened}`,
      () => ({ count: 0, rest: null }),
    )
    equal.count++
    if (equal.rest) {
      equal.rest.count++
      return equal.rest
    }
    if (this.spans.length >= maxSpans && kind !== 'step') {
      this.dropped++
      return null
    }
    const start = this.#now()
    const of = { kind, name, detail: shortened, start, milliseconds: -1, count: 1, failed: false }
    if (equal.count > mostEqual) equal.rest = of
    this.spans.push(of)
    return of
  }
}

/** Does the work, and notes what it takes if there is a trace: a promise until it settles, a stream until its end. */
export function timed<Result>(trace: Trace | undefined, label: Label, work: () => Result): Result {
  if (!trace) return work()
  const end = trace.begin(label)
  try {
    const result = work()
    if (result instanceof Promise) return untilSettled(result, end) as Result
    if (isStream(result)) return untilLeft(result, end) as Result
    end()
    return result
  } catch (error) {
    end(true)
    throw error
  }
}

type End = ReturnType<Trace['begin']>

async function untilSettled(result: Promise<unknown>, end: End) {
  let failed = true
  try {
    const value = await result
    failed = false
    return value
  } finally {
    end(failed)
  }
}

async function* untilLeft(stream: AsyncGenerator, end: End) {
  try {
    return yield* stream
  } finally {
    end()
  }
}

const isStream = (value: unknown): value is AsyncGenerator =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value

/** The same calls, each noted in the trace. The lasting ones take as long as something else, and aren't. */
export function tracedCalls<Of extends object>(
  calls: Of,
  trace: Trace,
  { kind, lasting = [] }: { kind: SpanKind; lasting?: (keyof Of)[] },
): Of {
  const entries = Object.entries(calls).map(([name, call]: [string, unknown]) => {
    if (typeof call !== 'function' || lasting.includes(name as keyof Of)) return [name, call]
    const traced = (...args: unknown[]): unknown =>
      timed(trace, { kind, name: inWords(name), detail: detailOf(args[0]) }, () => call(...args))
    return [name, traced]
  })
  return Object.fromEntries(entries)
}

/** `createContainer` is "create container". */
const inWords = (name: string) => name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)

/** An id, or a name. Nothing else may be shown: it can have secrets. */
function detailOf(first: unknown): string {
  const text = typeof first === 'string' ? first : (first as { name?: unknown } | null)?.name
  if (typeof text !== 'string') return ''
  return /^[0-9a-f]{64}$/.test(text) ? text.slice(0, 12) : text
}
