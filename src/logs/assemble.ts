import { lastDrawn } from '../docker/index.ts'
import type { LogEntry } from '../docker/index.ts'
import { tailOf } from './mask.ts'
import type { Cuts, Mask } from './mask.ts'
import { storable } from './block.ts'
import type { Placed, Position } from './position.ts'
import { withoutTrailing } from '../platform/without-trailing.ts'

/** A line as the container wrote it, with the time of its beginning. */
type WrittenLine = Pick<LogEntry, 'stream' | 'timestamp' | 'text'> & { cuts: Cuts }

/** Characters after which a line without an end is taken as it is; so it is when so many wait behind it. */
const maxLine = 1024 * 1024
const maxWaiting = 10_000

/**
 * Joins the pieces of long lines. What it hands out ends where no line of either stream is
 * unfinished, so that one position says what has been read.
 */
export class LineAssembler {
  readonly #open: Record<LogEntry['stream'], WrittenLine | null> = { stdout: null, stderr: null }
  /** When a line of each stream began whose end has not been seen; its end will have that time too. */
  readonly #endless: Record<LogEntry['stream'], { since: string; tail: string } | null> = {
    stdout: null,
    stderr: null,
  }
  #lines: WrittenLine[] = []
  /** How many of the lines can be handed out, and the position after them. */
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

  /** Since when a line has no end; null when none is open. */
  get openSince() {
    return this.#open.stdout?.timestamp ?? this.#open.stderr?.timestamp ?? null
  }

  /** From when on a line that was taken without its end may still go on; null when none may. */
  get endlessSince() {
    const [first = null] = Object.values(this.#endless)
      .flatMap((line) => line?.since ?? [])
      .sort()
    return first
  }

  /** Takes the lines that are open for whole: their end is not waited for any longer. */
  close() {
    this.#open.stdout = this.#open.stderr = null
    this.#settle()
  }

  take() {
    const lines = this.#lines.splice(0, this.#whole)
    this.#whole = 0
    return { lines, position: this.#position }
  }

  /** Forgets what was not taken: it is read again. */
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

/** What is kept of a line: what a terminal would show of it, without secrets, in pieces. */
export const keptTexts = ({ text, cuts }: WrittenLine, mask: Mask) => {
  if (!text.includes('\r')) return storable(mask(text, { cuts }))
  return storable(mask(lastDrawn(withoutTrailing(text, '\r')), { cuts }))
}
