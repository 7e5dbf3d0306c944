import { sseEvent } from './sse.ts'

/** How a line is shown: as HTML to people, as JSON to programs. */
type Rendering<Line> = { html: (line: Line) => string; json: (line: Line) => unknown }

/** Lines in order, rendered once for all who watch. */
export class LineBatch<Line extends { sequence: number }> {
  readonly #rendering: Rendering<Line>
  #html: Uint8Array | undefined
  #json: Uint8Array | undefined

  constructor(
    readonly lines: Line[],
    rendering: Rendering<Line>,
    /** Of the secrets that are hidden in them; null when that isn't known. */
    readonly state: string | null,
  ) {
    this.#rendering = rendering
  }

  get first() {
    return this.lines[0]!.sequence
  }

  get last() {
    return this.lines.at(-1)!.sequence
  }

  since(sequence: number) {
    return this.lines.filter((line) => line.sequence > sequence)
  }

  /** As SSE events whose data is a line's HTML. */
  get html() {
    return (this.#html ??= this.#encode(this.#rendering.html))
  }

  /** As SSE events whose data is a line's JSON. */
  get json() {
    return (this.#json ??= this.#encode((line) => JSON.stringify(this.#rendering.json(line))))
  }

  #encode(render: (line: Line) => string) {
    const events = this.lines.map((line) => sseEvent({ id: line.sequence, data: render(line) }))
    return new TextEncoder().encode(events.join(''))
  }
}
