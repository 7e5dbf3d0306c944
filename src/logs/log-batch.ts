import { lineHtml, lineJson } from './log-line.tsx'
import type { Line } from './log-line.tsx'

/** Lines of a log that are stored already, in order, rendered once for all who watch. */
export class LogBatch {
  readonly #encoded = new Map<(line: Line) => string, Uint8Array>()

  constructor(
    readonly lines: Line[],
    /** Of the secrets that are hidden in them; null when that isn't known. */
    readonly state: string | null = null,
  ) {}

  get first() {
    return this.lines[0]!.sequence
  }

  get last() {
    return this.lines.at(-1)!.sequence
  }

  /** The lines after that sequence; itself when that is all of them. */
  after(sequence: number) {
    if (this.first > sequence) return this
    return new LogBatch(
      this.lines.filter((line) => line.sequence > sequence),
      this.state,
    )
  }

  /** The lines that pass; itself when all do, null when none does. */
  only(passes: (line: Line) => boolean) {
    const lines = this.lines.filter(passes)
    if (lines.length === this.lines.length) return this
    return lines.length > 0 ? new LogBatch(lines, this.state) : null
  }

  /** As SSE events whose data is a line's HTML. */
  get html() {
    return this.encoded(lineHtml)
  }

  /** As SSE events whose data is a line's JSON. */
  get json() {
    return this.encoded(jsonOf)
  }

  /** As SSE events, once for each way to render a line; their ids are its numbers by default. */
  encoded(render: (line: Line) => string, idOf: (line: Line) => number | string = sequenceOf) {
    const known = this.#encoded.get(render)
    if (known) return known
    // neither HTML nor JSON of a line has a line break in it
    const events = this.lines.map((line) => `id: ${idOf(line)}\ndata: ${render(line)}\n\n`)
    const made = new TextEncoder().encode(events.join(''))
    this.#encoded.set(render, made)
    return made
  }
}

const sequenceOf = ({ sequence }: Line) => sequence

const jsonOf = (line: Line) => JSON.stringify(lineJson(line))

/** Characters of lines that come together, and about what a row of HTML has beside its text. */
const maxCharacters = 64 * 1024
const perRow = 100

/** Lines in parts of some length: what a reader who lags holds in memory is one of these, rendered. */
export function* partsOf<L extends { text: string }>(lines: L[]): Generator<L[]> {
  let from = 0
  let length = 0
  for (const [at, { text }] of lines.entries()) {
    length += text.length + perRow
    if (at === from || length <= maxCharacters) continue
    yield lines.slice(from, at)
    from = at
    length = text.length + perRow
  }
  if (from < lines.length) yield from === 0 ? lines : lines.slice(from)
}
