import { PieceMask } from '../logs/mask-pieces.ts'
import type { SourceMask } from '../logs/masks.ts'
import { lineHtml, lineJson } from './log-line.ts'
import type { Line } from './log-line.ts'

/** How lines are sent: rendered with their times or without, or as JSON. */
export type LineFormat = 'html' | 'bare' | 'json'

const rendering: Record<LineFormat, (line: Line) => string> = {
  html: (line) => lineHtml(line),
  bare: (line) => lineHtml(line, { timestamps: false }),
  json: (line) => JSON.stringify(lineJson(line)),
}

/** Lines in the order of the engine's file, rendered once for all who watch. */
export class LogBatch {
  readonly #rendered: Partial<Record<LineFormat, Uint8Array>> = {}
  /** About how many bytes it takes. */
  readonly size: number

  constructor(
    readonly lines: Line[],
    /** True when lines between the batch before and this one may have been left out. */
    readonly fresh = false,
  ) {
    let size = 0
    for (const { text } of lines) size += text.length + perLine
    this.size = size
  }

  /** As it may be shown now: itself, unless the secrets are others than when it was read. */
  hiding({ mask, state }: SourceMask) {
    if (this.lines[0]!.state === state) return this
    const pieces = new PieceMask<Line['stream']>()
    const lines = this.lines.map((line) => ({ ...line, text: pieces.apply(mask, line), state }))
    return new LogBatch(lines, this.fresh)
  }

  get last() {
    return this.lines.at(-1)!.id
  }

  has(id: string) {
    return this.lines.some((line) => line.id === id)
  }

  /** The lines that pass; itself when all do, null when none does. */
  only(passes: (line: Line) => boolean) {
    const lines = this.lines.filter(passes)
    if (lines.length === this.lines.length) return this
    return lines.length > 0 ? new LogBatch(lines) : null
  }

  /** As SSE events. Neither HTML nor JSON of a line has a line break in it. */
  events(format: LineFormat) {
    const render = rendering[format]
    return (this.#rendered[format] ??= new TextEncoder().encode(
      this.lines.map((line) => `id: ${line.id}\ndata: ${render(line)}\n\n`).join(''),
    ))
  }
}

/** What a line takes beside its text. */
const perLine = 100
