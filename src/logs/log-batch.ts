import type { Line } from './log-line.tsx'

/** Stored lines of a log in order, rendered once for all followers. */
export class LogBatch {
  readonly #encoded = new Map<(line: Line) => string, Uint8Array>()

  constructor(
    readonly lines: Line[],
    /** Identifies the secrets that are masked in the lines; null when unknown. */
    readonly state: string | null = null,
  ) {}

  get first() {
    return this.lines[0]!.sequence
  }

  get last() {
    return this.lines.at(-1)!.sequence
  }

  /** The lines after a sequence number; itself if these are all of them. */
  after(sequence: number) {
    if (this.first > sequence) return this
    return new LogBatch(
      this.lines.filter((line) => line.sequence > sequence),
      this.state,
    )
  }

  /** The lines that pass; itself if all do, null if none does. */
  only(passes: (line: Line) => boolean) {
    const lines = this.lines.filter(passes)
    if (lines.length === this.lines.length) return this
    return lines.length > 0 ? new LogBatch(lines, this.state) : null
  }

  /** SSE events, encoded once per function that renders a line. */
  encoded(render: (line: Line) => string, idOf: (line: Line) => number | string) {
    const known = this.#encoded.get(render)
    if (known) return known
    // HTML and JSON of a line contain no line breaks.
    const events = this.lines.map((line) => `id: ${idOf(line)}\ndata: ${render(line)}\n\n`)
    const made = new TextEncoder().encode(events.join(''))
    this.#encoded.set(render, made)
    return made
  }
}

/** In characters: about what a line costs beside its text, as an object and as a row's HTML. */
export const lineOverhead = 100

/** Splits lines into parts of that many characters. A slow reader keeps one of these, rendered, in memory. */
export function* partsOf<L extends { text: string }>(
  lines: L[],
  maxLength = 64 * 1024,
): Generator<L[]> {
  let from = 0
  let length = 0
  for (const [at, { text }] of lines.entries()) {
    length += text.length + lineOverhead
    if (at === from || length <= maxLength) continue
    yield lines.slice(from, at)
    from = at
    length = text.length + lineOverhead
  }
  if (from < lines.length) yield from === 0 ? lines : lines.slice(from)
}
