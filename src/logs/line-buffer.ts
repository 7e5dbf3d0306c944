import { keptTexts, LineAssembler } from './assemble.ts'
import type { LogDb } from '../db/index.ts'
import { getLogUse, LogBounds } from './log-bounds.ts'
import type { NewLine, Process } from './log-line.tsx'
import { gapMark, lateMark } from './marks.ts'
import type { Mark } from './marks.ts'
import { nothingHidden } from './masks.ts'
import type { SourceMask } from './masks.ts'
import type { Cursor } from './cursor-store.ts'
import type { LogKey } from './store.ts'
import { timeOf } from './position.ts'
import type { Position } from './position.ts'
import type { Pulled } from './pull.ts'
import type { Batch, BatchSlot } from './read-batches.ts'
import { inStreamOrder } from './stream-order.ts'

/** Characters after which what has come is stored, though more is to come. */
const enough = 256 * 1024

/**
 * Milliseconds by which lines of stdout and stderr may be out of order: as much as costs few lines.
 * The rest of a long line has the time of its beginning, and is waited for somewhat longer.
 */
const overlaps = { least: 100, most: 5000, lines: 500, endless: 60_000 }

/** Bytes from which on the engine's files (three of 10 MB) have turned over; and what it writes around a text. */
const turnedOver = 19_000_000
const wrapping = 75

/** The engine's timestamps, with their nanoseconds. */
const engineClock = {
  timeOf: ({ timestamp }: { timestamp: string }) =>
    timeOf({ timestamp }) + Number(timestamp.slice(23, 29)) / 1e6,
  lead: 1,
}

/** A mark that the pull at work has made is made again by the next try. */
type PendingMark = Mark & { isOfPull?: true }

/** Takes in what is pulled from one container: makes lines of it, puts marks between, and has them stored. */
export class LineBuffer {
  /** What the container runs. */
  process: Process = { process: '', replica: null }
  #mask: SourceMask = nothingHidden
  /** Lines per second, of the last pull that brought any. */
  rate = 0
  /** Whether the last pull came too late for some lines. */
  hadGap = false
  readonly #write: (batches: Batch[]) => void
  readonly #assembler = new LineAssembler()
  #cursor: Cursor
  /** Marks to come, in order; and how many of them the pull at work reaches. */
  #marks: PendingMark[] = []
  #due = 0
  #waiting = 0
  #count = 0
  #bytes = 0
  #span: { first: number; last: number } | null = null
  #isFirst = false
  #startedAt = 0
  /** Up to when everything is known to have been read; 0 when that is not known. */
  #readUpTo = 0
  #openAtLast: string | null = null
  /** Of the log of a job; what containers of releases write is bounded by its oldest lines. */
  readonly #bounds: LogBounds | null

  /** `write` stores what can't wait for its turn. */
  constructor(
    { logDb }: { logDb: LogDb },
    { cursor, log, write }: { cursor: Cursor; log: LogKey; write: (batches: Batch[]) => void },
  ) {
    this.#write = write
    this.#cursor = cursor
    this.#bounds = log.logId ? new LogBounds(getLogUse(logDb, log)) : null
  }

  /** Whether nothing more that the container writes would be kept. */
  get isFull() {
    return this.#bounds?.isClosedTo('stdout') === true
  }

  get position(): Position | null {
    const { timestamp, stream, ordinal } = this.#cursor
    return timestamp && stream ? { timestamp, stream, ordinal } : null
  }

  /** Milliseconds before the position from which on there may be something new. */
  get overlap() {
    const few = Math.max(
      overlaps.least,
      Math.min(overlaps.most, (overlaps.lines * 1000) / this.rate),
    )
    const { endlessSince } = this.#assembler
    if (!endlessSince || !this.position) return few
    const back = timeOf(this.position) - timeOf({ timestamp: endlessSince })
    return back > overlaps.endless ? few : Math.max(few, back + 1)
  }

  mark(mark: PendingMark) {
    this.#marks.push(mark)
    this.#marks.sort((a, b) => (a.after === b.after ? 0 : a.after - b.after))
  }

  /** Before each pull: marks of now stand before its end. */
  begin(mask: SourceMask) {
    this.#mask = mask
    // of a pull that broke off: it is done again
    this.#assembler.drop()
    this.#marks = this.#marks.filter(({ isOfPull }) => !isOfPull)
    this.#isFirst = this.position === null
    this.hadGap = false
    this.#waiting = 0
    this.#due = this.#marks.length
    this.#count = 0
    this.#bytes = 0
    this.#span = null
    this.#startedAt = Date.now()
  }

  add({ entries, gap }: Pulled) {
    const span = { first: timeOf(entries[0]!), last: timeOf(entries.at(-1)!) }
    if (gap) this.#tellGap({ ...span, count: entries.length })
    this.#count += entries.length
    this.#span = { first: this.#span?.first ?? span.first, last: span.last }
    for (const entry of entries) {
      this.#assembler.push(entry)
      this.#waiting += entry.text.length
      this.#bytes += entry.text.length + wrapping
    }
    if (this.#waiting >= enough) this.#store()
  }

  /** After a pull that went through: stores what it brought, and answers how many entries that was. */
  async settle({ endedAt, turn }: { endedAt: Date | null; turn: BatchSlot }) {
    const open = this.#assembler.openSince
    // one that is still open at the second pull may stay so forever
    if (open && (endedAt || open === this.#openAtLast)) this.#assembler.close()
    this.#openAtLast = open
    if (this.#span && this.#isFirst && this.#bytes > turnedOver)
      this.#interject(lateMark(this.#cursor, this.#span.first))
    this.#measure()
    await turn.store(this.#collect({ endedAt }))
    this.#assembler.drop()
    this.#readUpTo = Math.min(this.#startedAt, turn.until)
    return this.#count
  }

  /** Nothing was written until that time (milliseconds since 1970). */
  quietUpTo(time: number) {
    this.#readUpTo = Math.max(this.#readUpTo, time)
  }

  /** Stores the mark that is the last. */
  close(mark: Mark) {
    this.begin(this.#mask)
    this.#interject(mark)
    this.#store({ endedAt: new Date(mark.time) })
  }

  #store(end: { endedAt?: Date | null } = {}) {
    const batch = this.#collect(end)
    if (batch) this.#write([batch])
  }

  /** What can be stored; null when that is nothing. */
  #collect({ endedAt }: { endedAt?: Date | null }): Batch | null {
    this.#waiting = 0
    const { lines: written, position } = this.#assembler.take()
    const lines: NewLine[] = []
    let taken = 0
    const { deploymentId, name: container } = this.#cursor
    const origin = this.#bounds ? undefined : { deploymentId, container, ...this.process }
    const keep = (line: NewLine) => {
      const kept = this.#bounds ? this.#bounds.admit(line) : line
      if (kept) lines.push(kept)
    }
    const takeMark = () => {
      const { time, text } = this.#marks[taken++]!
      keep({ time, text, stream: 'system', origin })
    }
    for (const line of inStreamOrder(written, engineClock)) {
      const time = timeOf(line)
      while (taken < this.#marks.length && this.#marks[taken]!.after < time) takeMark()
      const { stream } = line
      for (const text of keptTexts(line, this.#mask.mask)) keep({ time, stream, text, origin })
    }
    if (endedAt !== undefined) while (taken < this.#due) takeMark()
    const cursor = {
      ...this.#cursor,
      ...position,
      ...(endedAt !== undefined && { endedAt: endedAt?.getTime() ?? null }),
    }
    if (lines.length + written.length === 0 && cursor.endedAt === this.#cursor.endedAt) return null
    const stored = () => {
      this.#cursor = cursor
      this.#marks.splice(0, taken) // not before: what could not be stored comes with the next try
      this.#due = Math.max(0, this.#due - taken)
    }
    return { lines, cursor, state: this.#mask.state, stored }
  }

  /** A mark that the pull at work has made itself. */
  #interject(mark: Mark) {
    this.mark({ ...mark, isOfPull: true })
    this.#due++
  }

  #tellGap({ first, last, count }: { first: number; last: number; count: number }) {
    this.hadGap = true
    const after = count / Math.max((last - first) / 1000, 0.01)
    const perSecond = this.rate > 0 ? (this.rate + after) / 2 : after
    const position = timeOf(this.position!)
    const from = this.#readUpTo < first ? Math.max(position, this.#readUpTo) : position
    this.#interject(gapMark({ from, to: first, perSecond }))
  }

  #measure() {
    const { first, last } = this.#span ?? { first: 0, last: 0 }
    this.rate = this.#count / Math.max((last - first) / 1000, 1)
  }
}
