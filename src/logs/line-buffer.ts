import { keptTexts, LineAssembler } from './assemble.ts'
import type { LogDb } from '../db/index.ts'
import { getLogUse, LogBounds } from './log-bounds.ts'
import type { NewLine, Origin } from './log-line.tsx'
import { gapMark, lateMark } from './marks.ts'
import type { Mark } from './marks.ts'
import { nothingHidden } from './masks.ts'
import type { SourceMask } from './masks.ts'
import type { Cursor } from './cursor-store.ts'
import type { LogKey } from './store.ts'
import { isAt, timeOf } from './position.ts'
import type { Position } from './position.ts'
import type { Pulled } from './pull.ts'
import type { Batch, BatchSlot } from './read-batches.ts'
import { inStreamOrder } from './stream-order.ts'

/** In characters, after which lines are stored even in the middle of a pull. */
const enough = 256 * 1024

/**
 * In milliseconds: how far stdout and stderr may be out of order, chosen so that few lines are read twice.
 * The rest of a long line has the time of its start, and is awaited for longer.
 */
const overlaps = { least: 100, most: 5000, lines: 500, endless: 60_000 }

/** In bytes: `turnedOver` means rotated files (the engine has three of 10 MiB), `wrapping` is per entry. */
const turnedOver = 19_000_000
const wrapping = 75

/** Includes the nanoseconds of the engine's timestamps. */
const engineClock = {
  timeOf: ({ timestamp }: { timestamp: string }) =>
    timeOf({ timestamp }) + Number(timestamp.slice(23, 29)) / 1e6,
  lead: 1,
}

/** With `isOfPull` the current pull added the mark, and a retry adds it again. */
type PendingMark = Mark & { isOfPull?: true }

/** Converts what is pulled from one container to lines, inserts marks between them, and has them stored. */
export class LineBuffer {
  /** The process that the container runs, and of which deployment. */
  origin: Omit<Origin, 'container'> = { process: '', replica: null, deploymentId: '' }
  #mask: SourceMask = nothingHidden
  /** Lines per second in the last pull that returned any. */
  rate = 0
  /** True when the last pull was too late for some lines. */
  hadGap = false
  readonly #write: (batches: Batch[]) => void
  readonly #assembler = new LineAssembler()
  #cursor: Cursor
  /** Pending marks in order; the first `#due` belong before the end of the current pull. */
  #marks: PendingMark[] = []
  #due = 0
  #waiting = 0
  #count = 0
  #bytes = 0
  #span: { first: number; last: number } | null = null
  #startedAt = 0
  /** The time up to which everything is known to be read; 0 when unknown. */
  #readUpTo = 0
  #openAtLast: string | null = null
  /** The position before the current pull, and when the pull began that reached the present one. */
  #before: Position | null = null
  #reachedAt = Infinity
  /** Only for a job's log: other output is limited by removing its oldest lines. */
  readonly #bounds: LogBounds | null

  /** `write` stores lines immediately, without waiting for other containers. */
  constructor(
    { logDb }: { logDb: LogDb },
    { cursor, log, write }: { cursor: Cursor; log: LogKey; write: (batches: Batch[]) => void },
  ) {
    this.#write = write
    this.#cursor = cursor
    this.#bounds = log.logId ? new LogBounds(getLogUse(logDb, log)) : null
  }

  /** True when no further output would be kept. */
  get isFull() {
    return this.#bounds?.isClosedTo('stdout') === true
  }

  get position(): Position | null {
    const { timestamp, stream, ordinal } = this.#cursor
    return timestamp && stream ? { timestamp, stream, ordinal } : null
  }

  /** The end up to which everything is stored; null while it runs. */
  get endedAt() {
    return this.#cursor.endedAt
  }

  /** In milliseconds: how far before the position new entries may still appear. */
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

  /** True when the clock may have been set back since the position was reached: new entries then have earlier times. */
  get mayBeEarlier() {
    return Date.now() < this.#reachedAt
  }

  mark(mark: PendingMark) {
    this.#marks.push(mark)
    this.#marks.sort((a, b) => (a.after === b.after ? 0 : a.after - b.after))
  }

  /** Call it before each pull. Marks that are pending now belong before the end of the pull. */
  begin(mask: SourceMask) {
    this.#mask = mask
    // Discards what a failed pull read; it is repeated.
    this.#assembler.drop()
    this.#marks = this.#marks.filter(({ isOfPull }) => !isOfPull)
    this.#before = this.position
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
    if (gap) this.#markGap({ ...span, count: entries.length })
    this.#count += entries.length
    this.#span = { first: this.#span?.first ?? span.first, last: span.last }
    for (const entry of entries) {
      this.#assembler.push(entry)
      this.#waiting += entry.text.length
      this.#bytes += entry.text.length + wrapping
    }
    if (this.#waiting >= enough) this.#store()
  }

  /** Call it after a complete pull. Stores the lines, and returns the number of entries. */
  async settle({ endedAt, slot }: { endedAt: Date | null; slot: BatchSlot }) {
    const open = this.#assembler.openSince
    // A line that is still unfinished at the second pull may never end.
    if (open && (endedAt || open === this.#openAtLast)) this.#assembler.close()
    this.#openAtLast = open
    if (this.#span && !this.#before && this.#bytes > turnedOver)
      this.#interject(lateMark(this.#cursor, this.#span.first))
    this.#measure()
    await slot.store(this.#collect({ endedAt }))
    this.#assembler.drop()
    this.#readUpTo = Math.min(this.#startedAt, slot.until)
    this.#noteReached()
    return this.#count
  }

  /** Where nothing is new, entries later than the position are also later than this pull. */
  #noteReached() {
    const { position } = this
    if (!position) return
    const isNew = !this.#before || !isAt(position, this.#before)
    const unmoved = Math.max(this.#startedAt, timeOf(position))
    this.#reachedAt = isNew ? this.#startedAt : Math.min(this.#reachedAt, unmoved)
  }

  /** Reports that nothing was written up to that time (milliseconds since 1970). */
  quietUpTo(time: number) {
    this.#readUpTo = Math.max(this.#readUpTo, time)
  }

  /** Stores the last mark. */
  close(mark: Mark) {
    this.begin(this.#mask)
    this.#interject(mark)
    this.#store({ endedAt: new Date(mark.time) })
  }

  #store(end: { endedAt?: Date | null } = {}) {
    const batch = this.#collect(end)
    if (batch) this.#write([batch])
  }

  /** Returns everything that can be stored; null when there is nothing. */
  #collect({ endedAt }: { endedAt?: Date | null }): Batch | null {
    this.#waiting = 0
    const { lines: written, position } = this.#assembler.take()
    const lines: NewLine[] = []
    let taken = 0
    const origin = this.#bounds ? undefined : { ...this.origin, container: this.#cursor.name }
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
      this.#marks.splice(0, taken) // only now, since a retry must still have marks that couldn't be stored
      this.#due = Math.max(0, this.#due - taken)
    }
    return { lines, cursor, state: this.#mask.state, stored }
  }

  /** Adds a mark for the current pull. */
  #interject(mark: Mark) {
    this.mark({ ...mark, isOfPull: true })
    this.#due++
  }

  #markGap({ first, last, count }: { first: number; last: number; count: number }) {
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
