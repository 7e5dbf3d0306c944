import type { Db, LogDb } from '../db/index.ts'
import type { NewLine } from './log-line.tsx'
import { channelOf } from './logs.ts'
import type { Logs } from './logs.ts'
import { saveCursor } from './cursor-store.ts'
import type { Cursor } from './cursor-store.ts'
import { hasSource } from './store.ts'
import type { LogKey } from './store.ts'

/** In milliseconds: by then the engine has written a container's output to its files. */
const delay = 50

/** In milliseconds: how long finished readers wait for the others of a batch. */
const waitMs = 1000

/** Lines of one container, in the order in which it wrote them. */
export type Batch = {
  lines: NewLine[]
  /** The position after these lines. */
  cursor: Cursor
  /** Identifies the secrets that are masked in them. */
  state: string
  stored: () => void
}

type ReadBatchesDeps = { db: Db; logDb: LogDb; logs: Logs }

/** The environment or service was deleted, so nothing more is kept. */
export class SourceGone extends Error {}

/**
 * Reads all containers of one log at the same time and up to the same time, so that their output is stored in
 * the order in which it was written.
 */
export class ReadBatches {
  /** The number of containers being read. */
  readers = 0
  readonly #deps: ReadBatchesDeps
  #batch: ReadBatch | null = null
  #next = Promise.withResolvers<void>()

  constructor(
    deps: ReadBatchesDeps,
    readonly log: LogKey,
  ) {
    this.#deps = deps
  }

  /** Joins the current batch, or starts one. */
  enter(): BatchSlot {
    if (!this.#batch?.isOpen) {
      this.#batch = new ReadBatch((batches) => this.write(batches))
      this.#next.resolve()
      this.#next = Promise.withResolvers()
    }
    return this.#batch.enter()
  }

  /** Resolves when the next batch starts. */
  get next() {
    return this.#next.promise
  }

  get isFollowed() {
    return this.#deps.logs.isHeard(channelOf(this.log))
  }

  /** Calls back when someone starts to follow the log, until the signal or the returned function. */
  whenFollowed(signal: AbortSignal, wake: () => void) {
    return this.#deps.logs.whenFollowed(this.log, signal, wake)
  }

  /** Stores the lines of several containers, ordered by time, or nothing. */
  write(batches: Batch[]) {
    if (batches.length === 0) return
    const { db, logDb, logs } = this.#deps
    if (!hasSource(db, this.log.sourceId)) throw new SourceGone()
    const [{ state }] = batches as [Batch]
    logs.write(this.log, inOrder(batches.map(({ lines }) => lines)), {
      state: batches.every((batch) => batch.state === state) ? state : null,
      also: () => batches.forEach(({ cursor }) => saveCursor(logDb, cursor)),
    })
    for (const { stored } of batches) stored()
  }
}

/** The part of one container in a batch. */
export type BatchSlot = ReturnType<ReadBatch['enter']>

class ReadBatch {
  isOpen = true
  readonly #until = Date.now() - delay
  readonly #write: (batches: Batch[]) => void
  readonly #batches: Batch[] = []
  readonly #stored = Promise.withResolvers<void>()
  #reading = 0
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(write: (batches: Batch[]) => void) {
    this.#write = write
  }

  enter() {
    this.#reading++
    let isOver = false
    return {
      /** The same for all containers of a batch, in milliseconds since 1970. */
      until: this.#until,
      /** Resolves when the lines are stored, with those of the others. */
      store: async (batch: Batch | null) => {
        isOver = true
        if (batch) await this.#store(batch)
        else this.#leave()
      },
      [Symbol.dispose]: () => {
        if (!isOver) this.#leave()
      },
    }
  }

  async #store(batch: Batch) {
    if (!this.isOpen) return this.#write([batch]) // the others didn't wait for this one
    this.#batches.push(batch)
    this.#timer ??= setTimeout(() => this.#end(), waitMs)
    this.#leave()
    return this.#stored.promise
  }

  #leave() {
    if (--this.#reading === 0) this.#end()
  }

  #end() {
    if (!this.isOpen) return
    this.isOpen = false
    clearTimeout(this.#timer)
    try {
      this.#write(this.#batches)
      this.#stored.resolve()
    } catch (error) {
      this.#stored.reject(error)
    }
  }
}

/** Merges lines of several containers by time, keeping the order within each. */
function inOrder(lists: NewLine[][]): NewLine[] {
  if (lists.length === 1) return lists[0]!
  const left = lists.filter(({ length }) => length > 0).map((lines) => ({ lines, at: 0 }))
  const lines: NewLine[] = []
  while (left.length > 0) {
    const first = left.reduce((a, b) => (b.lines[b.at]!.time < a.lines[a.at]!.time ? b : a))
    lines.push(first.lines[first.at++]!)
    if (first.at === first.lines.length) left.splice(left.indexOf(first), 1)
  }
  return lines
}
