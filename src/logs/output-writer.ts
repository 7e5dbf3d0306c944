import type { Deps } from '../deps.ts'
import { Hub } from '../live/hub.ts'
import { lineRows, originRow, pack, unpack } from './block.ts'
import type { NewLine, Origin } from './block.ts'
import { OutputBatch } from './output-batch.ts'
import {
  deleteOldestBlock,
  getExtent,
  getNewestBlock,
  hasSource,
  insertBlock,
  replaceBlock,
  saveCursor,
} from './output-store.ts'
import type { Block, Cursor } from './output-store.ts'

/** Characters up to which the newest block takes more lines: an app that says little fills it slowly. */
const mergedLength = 64 * 1024

/** Lines that are published at once: what those who lag may hold in memory is made of such batches. */
const maxBatch = 500

/** The newest block of a source, and what all of them take. */
type Source = {
  block: Omit<Block, 'data'> | null
  /** Characters in it. */
  length: number
  /** Bytes of all blocks. */
  bytes: number
  /** Of its last line. */
  origin: string | null
}

/** Stores what containers wrote, with how far they have been read, and then tells who follows. */
export class OutputWriter {
  /** Lines that are stored, by the id of their environment or service. */
  readonly live = new Hub<OutputBatch>()
  readonly #deps: Pick<Deps, 'db' | 'logDb' | 'config'>
  readonly #sources = new Map<string, Source>()

  constructor(deps: Pick<Deps, 'db' | 'logDb' | 'config'>) {
    this.#deps = deps
  }

  /** Stores lines and cursor together, or neither; false when their environment or service is gone. */
  write(cursor: Cursor, lines: NewLine[], state: string | null = null) {
    const { db, logDb } = this.#deps
    const { sourceId } = cursor
    if (!hasSource(db, sourceId)) {
      this.#sources.delete(sourceId)
      return false
    }
    if (lines.length === 0) {
      saveCursor(logDb, cursor)
      return true
    }
    const origin = { deploymentId: cursor.deploymentId, container: cursor.name }
    const sequence = this.#store(cursor, { sourceId, origin, lines })
    for (let at = 0; at < lines.length; at += maxBatch) {
      const part = lines.slice(at, at + maxBatch)
      this.live.publish(
        sourceId,
        new OutputBatch(
          part.map((line, n) => ({ ...line, sequence: sequence + at + n, ...origin })),
          state,
        ),
      )
    }
    return true
  }

  #store(cursor: Cursor, added: { sourceId: string; origin: Origin; lines: NewLine[] }) {
    const { logDb } = this.#deps
    try {
      return logDb.transaction(() => {
        saveCursor(logDb, cursor)
        return this.#append(added)
      })
    } catch (error) {
      this.#sources.delete(added.sourceId) // what it says was not stored
      throw error
    }
  }

  /** Answers the sequence of the first line. */
  #append({ sourceId, origin, lines }: { sourceId: string; origin: Origin; lines: NewLine[] }) {
    const { logDb, config } = this.#deps
    const source = this.#find(sourceId)
    const { block, length } = source
    const own = originRow(origin)
    const merges = block !== null && length < mergedLength
    const rows = lineRows(lines)
    const added = merges && source.origin === own ? rows : own + rows
    const sequence = (block?.last ?? 0) + 1
    const times = lines.map(({ time }) => time)
    const span = {
      last: sequence + lines.length - 1,
      firstTime: times.reduce((a, b) => Math.min(a, b)),
      lastTime: times.reduce((a, b) => Math.max(a, b)),
    }
    if (merges) {
      const old = getNewestBlock(logDb, sourceId)!.data
      const data = pack(unpack(old) + added)
      if (length > 0) {
        span.firstTime = Math.min(span.firstTime, block.firstTime)
        span.lastTime = Math.max(span.lastTime, block.lastTime)
      }
      source.block = { ...block, ...span }
      replaceBlock(logDb, { ...source.block, data })
      source.bytes += data.length - old.length
      source.length += added.length
    } else {
      const data = pack(added)
      const made = { sourceId, first: sequence, ...span }
      source.block = { id: insertBlock(logDb, { ...made, data }), ...made }
      source.bytes += data.length
      source.length = added.length
    }
    source.origin = own
    while (source.bytes > config.logSize) {
      const gone = deleteOldestBlock(logDb, sourceId)
      if (gone === null) break
      source.bytes -= gone
    }
    return sequence
  }

  #find(sourceId: string): Source {
    const known = this.#sources.get(sourceId)
    if (known) return known
    const newest = getNewestBlock(this.#deps.logDb, sourceId)
    const source: Source = {
      block: null,
      length: newest ? unpack(newest.data).length : 0,
      bytes: getExtent(this.#deps.logDb, sourceId).bytes,
      origin: null,
    }
    if (newest) {
      const { data: _, ...block } = newest
      source.block = block
    }
    this.#sources.set(sourceId, source)
    return source
  }

  /** What is known of the blocks is not true any more: some were removed. */
  forget() {
    this.#sources.clear()
  }
}
