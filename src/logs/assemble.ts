import { lastDrawn } from '../docker/index.ts'
import type { LogEntry } from '../docker/index.ts'
import { tailOf } from './mask.ts'
import type { Cuts, Mask } from './mask.ts'
import { storable } from './block.ts'
import type { Placed, Position } from './position.ts'
import { withoutTrailing } from '../platform/without-trailing.ts'

/** A line as the container wrote it, with the time of its first piece. */
type WrittenLine = Pick<LogEntry, 'stream' | 'timestamp' | 'text'> & { cuts: Cuts }

/** In characters: a longer line is taken without its end, as is one that `maxWaiting` others wait for. */
const maxLine = 1024 * 1024
const maxWaiting = 10_000

/**
 * Joins the pieces of long lines. It only returns lines up to a point at which no line of either stream is
 * unfinished, so that a single position describes what was read.
 */
export class LineAssembler {
  readonly #open: Record<LogEntry['stream'], WrittenLine | null> = { stdout: null, stderr: null }
  /** For each stream, the start time of a line that was taken without its end; the rest has the same time. */
  readonly #endless: Record<LogEntry['stream'], { since: string; tail: string } | null> = {
    stdout: null,
    stderr: null,
  }
  #lines: WrittenLine[] = []
  /** The number of lines that can be returned, and the position after them. */
  #whole = 0
  #position: Position | null = null
  #last: Position | null = null

  push(entry: Placed) {
    const { stream, text, ended } = entry
    const line = this.#open[stream] ?? this.#begin(entry)
    line.text += text
    line.cuts.after = !ended
    this.#last = entry.position
    this.#endless[stream] = ended ? null : { since: entry.timestamp, tail: tailOf(line.text) }
    this.#open[stream] = ended || line.text.length > maxLine ? null : line
    if (this.#lines.length - this.#whole > maxWaiting) this.close()
    else this.#settle()
  }

  /** The start time of an unfinished line; null when there is none. */
  get openSince() {
    return this.#open.stdout?.timestamp ?? this.#open.stderr?.timestamp ?? null
  }

  /** The start time of a line that was taken without its end and may continue; null when there is none. */
  get endlessSince() {
    const [first = null] = Object.values(this.#endless)
      .flatMap((line) => line?.since ?? [])
      .sort()
    return first
  }

  /** Completes unfinished lines without waiting for their end. */
  close() {
    this.#open.stdout = this.#open.stderr = null
    this.#settle()
  }

  take() {
    const lines = this.#lines.splice(0, this.#whole)
    this.#whole = 0
    return { lines, position: this.#position }
  }

  /** Discards everything that wasn't taken; it is read again. */
  drop() {
    this.#lines = []
    this.#whole = 0
    this.#position = this.#last = null
    this.#open.stdout = this.#open.stderr = null
  }

  #begin({ stream, timestamp }: Placed) {
    const open = this.#endless[stream]
    const cuts = { before: open !== null, after: false, tail: open?.tail }
    const line: WrittenLine = { stream, timestamp, text: '', cuts }
    this.#lines.push(line)
    return line
  }

  #settle() {
    if (this.#open.stdout || this.#open.stderr) return
    this.#whole = this.#lines.length
    this.#position = this.#last
  }
}

/** The stored form of a line, in pieces: what a terminal would show, without secrets. */
export const keptTexts = ({ text, cuts }: WrittenLine, mask: Mask) => {
  if (!text.includes('\r')) return storable(mask(text, { cuts }))
  return storable(mask(lastDrawn(withoutTrailing(text, '\r')), { cuts }))
}
