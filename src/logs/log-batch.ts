import { sseEvent } from '../web/sse.ts'
import { lineHtml, lineJson } from './log-line.tsx'
import type { Line } from './log-line.tsx'

/** Lines of a log that are stored already, in order, rendered once for all who watch. */
export class LogBatch {
  #html: Uint8Array | undefined
  #json: Uint8Array | undefined

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

  /** As SSE events whose data is a line's HTML. */
  get html() {
    return (this.#html ??= this.#encode(lineHtml))
  }

  /** As SSE events whose data is a line's JSON. */
  get json() {
    return (this.#json ??= this.#encode((line) => JSON.stringify(lineJson(line))))
  }

  #encode(render: (line: Line) => string) {
    const events = this.lines.map((line) => sseEvent({ id: line.sequence, data: render(line) }))
    return new TextEncoder().encode(events.join(''))
  }
}
