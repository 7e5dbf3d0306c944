import type { LogEntry, LogSnapshotOptions } from '../docker/index.ts'
import { isAt, Placer, secondsBefore, timestampAfter } from './position.ts'
import type { Placed, Position } from './position.ts'

export type Snapshot = (
  options: Pick<LogSnapshotOptions, 'tail' | 'since'>,
) => AsyncIterable<LogEntry[]>

/** New entries. `gap` means that some between the position and the first of them are missing. */
export type Pulled = { entries: Placed[]; gap: boolean }

/** A response that doesn't reach back to the position is requested again with this many times the entries. */
const growth = 8
const maxTail = 100_000

/** Entries after a gap are collected up to this number, since fewer don't allow computing a rate. */
const measurable = 1000

/** In the first response, so many later entries may precede the position: from before the clock was set back. */
const doubted = 10_000

/**
 * Yields what a container wrote after the position, oldest first; everything without a position. Output of
 * stdout and stderr can be slightly out of order in the engine's files, so `overlap` milliseconds before the
 * position are requested again, and known entries skipped. `expected` is the approximate number of entries. With
 * `mayBeEarlier` times don't count, because the clock may have been set back: the position is looked for in all.
 */
export async function* pull(
  snapshot: Snapshot,
  {
    position,
    expected,
    overlap,
    mayBeEarlier = false,
  }: { position: Position | null; expected: number; overlap: number; mayBeEarlier?: boolean },
): AsyncGenerator<Pulled> {
  if (!position) {
    const placer = new Placer()
    for await (const entries of snapshot({}))
      yield { entries: entries.map((entry) => placer.place(entry)), gap: false }
    return
  }
  const since = secondsBefore(position, overlap)
  for (let tail: number | undefined = expected; ; tail = larger(tail)) {
    const isOfAnyTime = mayBeEarlier && tail !== undefined
    const search = new Search(position, { overlap, tail, isFirst: tail === expected, isOfAnyTime })
    for await (const entries of snapshot(isOfAnyTime ? { tail } : { since, tail })) {
      const found = search.after(entries)
      if (found.entries.length > 0) yield found
      if (search.cut) break
    }
    const found = search.end()
    if (found.entries.length > 0) yield found
    if (!search.cut) return
  }
}

const larger = (tail: number | undefined) =>
  tail && tail * growth < maxTail ? tail * growth : undefined

const nothing: Pulled = { entries: [], gap: false }

/** Finds the position in a response, and returns the entries after it. */
class Search {
  /** True when the response begins too late to decide, so more must be requested. */
  cut = false
  readonly #placer = new Placer()
  readonly #position: Position
  readonly #latest: string
  readonly #tail: number | undefined
  readonly #isFirst: boolean
  readonly #isOfAnyTime: boolean
  #passed = false
  #seen = 0
  /** Entries before the position; if the position is missing, they are new. */
  #waiting: Placed[] = []

  constructor(
    position: Position,
    {
      overlap,
      tail,
      isFirst,
      isOfAnyTime,
    }: {
      overlap: number
      tail: number | undefined
      isFirst: boolean
      isOfAnyTime: boolean
    },
  ) {
    this.#position = position
    this.#latest = timestampAfter(position, overlap)
    this.#tail = tail
    this.#isFirst = isFirst
    this.#isOfAnyTime = isOfAnyTime
  }

  after(entries: LogEntry[]): Pulled {
    const placed = entries.map((entry) => this.#placer.place(entry))
    this.#seen += placed.length
    if (this.#passed) return { entries: placed, gap: false }
    const from = this.#waiting.length
    this.#waiting.push(...placed)
    return this.#isDoubtful() ? nothing : this.#look(from)
  }

  /** Returns the remaining entries at the end of the response. */
  end(): Pulled {
    if (this.cut || this.#passed || this.#seen === 0) return nothing
    if (this.#tail && this.#seen >= this.#tail) return this.#giveUp()
    const found = this.#look(0)
    if (this.#isOfAnyTime && !this.#passed) return this.#giveUp()
    return this.#passed ? found : { entries: this.#waiting, gap: true }
  }

  /** If the tail begins amid entries with the position's timestamp, their ordinals are unknown. */
  #isDoubtful() {
    return this.#tail && this.#waiting[0]?.timestamp === this.#position.timestamp
  }

  #look(from: number): Pulled {
    const { timestamp } = this.#position
    for (let at = from; at < this.#waiting.length; at++) {
      const entry = this.#waiting[at]!
      if (entry.timestamp === timestamp && isAt(entry.position, this.#position))
        return this.#pass({ entries: this.#waiting.slice(at + 1), gap: false })
      if (entry.timestamp <= this.#latest || (this.#isFirst && at < doubted)) continue
      if (this.#tail && !this.#isDoubtful()) return this.#giveUp()
      if (this.#waiting.length < measurable) return nothing
      return this.#pass({ entries: this.#waiting, gap: true })
    }
    return nothing
  }

  #pass(found: Pulled) {
    this.#passed = true
    this.#waiting = []
    return found
  }

  #giveUp() {
    this.cut = true
    return nothing
  }
}
