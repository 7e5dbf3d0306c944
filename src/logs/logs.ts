import { setTimeout as sleep } from 'node:timers/promises'
import type { LogDb } from '../db/index.ts'
import { Hub } from '../live/hub.ts'
import { lineRows, noOrigin, Origins, pack, rowOverhead, unpack } from './block.ts'
import { lineOverhead, LogBatch, partsOf } from './log-batch.ts'
import type { Line, NewLine } from './log-line.tsx'
import { deleteOldestBlock, getExtent, getNewestBlock, saveBlock } from './store.ts'
import type { Block, LogKey } from './store.ts'

/** Followers of a log receive stored lines, or the new status of its subject. */
export type LogEvent = LogBatch | { status: string }

/** In characters: the newest block accepts lines up to this length, as a quiet app fills it slowly. */
const mergedLength = 64 * 1024

/**
 * In characters, after which a garbage collection is requested. Lines of a followed log count several times,
 * since they are numbered, rendered and encoded.
 */
const collected = 2 * 2 ** 20
const timesFollowed = 5

/** In milliseconds: how long a reader waits for lines that the engine has and Davit hasn't read yet. */
const refreshTime = 500

/** The stored end of a log. */
type End = {
  block: Omit<Block, 'data'> | null
  /** In characters, of that block. */
  length: number
  /** The sequence number of the last line. */
  last: number
  /** In bytes, of all blocks. */
  bytes: number
  /** The origins in the newest block. */
  origins: Origins
}

/** The channel on which the log's lines are published. */
export const channelOf = ({ sourceId, logId }: LogKey) => logId || sourceId

/** The only writer of logs: stores lines, then publishes them. */
export class Logs extends Hub<LogEvent> {
  readonly #logDb: LogDb
  readonly #maxOutput: number
  readonly #ends = new Map<string, End>()
  /** Notifies when someone starts to follow a log. */
  readonly #arrivals = new Hub<void>()
  /** Characters written since the last requested garbage collection. */
  #written = 0

  /** `logSize` is in bytes, for the stored output of one environment or service. */
  constructor({ logDb, config }: { logDb: LogDb; config: { logSize: number } }) {
    super()
    this.#logDb = logDb
    this.#maxOutput = config.logSize
  }

  override listen(...[channel, signal, listener]: Parameters<Hub<LogEvent>['listen']>) {
    const leave = super.listen(channel, signal, listener)
    this.#arrivals.publish(channel)
    return leave
  }

  /** Calls back when someone starts to follow the log, until the signal or the returned function. */
  whenFollowed(log: LogKey, signal: AbortSignal, wake: () => void) {
    return this.#arrivals.listen(channelOf(log), signal, { push: wake })
  }

  /** Waits up to half a second for an unfollowed log, which is read rarely, to be read again. */
  async refresh(log: LogKey) {
    const channel = channelOf(log)
    if (!this.#arrivals.isHeard(channel)) return
    const over = new AbortController()
    const read = Promise.withResolvers<void>()
    this.listen(channel, over.signal, { push: () => read.resolve() })
    await Promise.race([read.promise, sleep(refreshTime, undefined, { signal: over.signal })])
    over.abort()
  }

  /** Stores lines with the next sequence numbers together with `also`, or nothing. */
  write(
    log: LogKey,
    lines: NewLine[],
    { state = null, also = () => {} }: { state?: string | null; also?: () => void } = {},
  ) {
    this.writeAll([{ log, lines, state }], also)
  }

  /** Like `write` for several logs, in one transaction. */
  writeAll(
    written: { log: LogKey; lines: NewLine[]; state: string | null }[],
    also: () => void = () => {},
  ) {
    const stored = written.map((one) => ({ ...one, parts: [...partsOf(one.lines)] }))
    const firsts = this.#store(stored, also)
    for (const [at, { log, parts, state, lines }] of stored.entries()) {
      this.#publish(log, { parts, state, first: firsts[at]! })
      this.#askMemoryBack(log, lines)
    }
  }

  #publish(
    log: LogKey,
    { parts, state, first }: { parts: NewLine[][]; state: string | null; first: number },
  ) {
    let sequence = first
    for (const part of this.isHeard(channelOf(log)) ? parts : []) {
      const numbered = part.map(({ time, stream, text, origin = noOrigin }): Line => ({
        sequence: sequence++,
        time,
        stream,
        text,
        ...origin,
      }))
      this.publish(channelOf(log), new LogBatch(numbered, state))
    }
  }

  /** Drops cached ends when lines were removed, or a log is complete. */
  forget(log?: LogKey) {
    if (log) this.#ends.delete(channelOf(log))
    else this.#ends.clear()
  }

  /** Otherwise memory is freed late while something prints without pause. */
  #askMemoryBack(log: LogKey, lines: NewLine[]) {
    const times = this.isHeard(channelOf(log)) ? timesFollowed : 1
    for (const { text } of lines) this.#written += times * (text.length + lineOverhead)
    if (this.#written < collected) return
    this.#written = 0
    Bun.gc(false) // asynchronous: a synchronous one would block the main loop several times a second
  }

  /** Returns the sequence number of each log's first line. */
  #store(written: { log: LogKey; parts: NewLine[][] }[], also: () => void) {
    try {
      return this.#logDb.transaction(() => {
        also()
        return written.map(({ log, parts }) => {
          if (parts.length === 0) return 0
          const first = this.#endOf(log).last + 1
          for (const part of parts) this.#append(log, part)
          return first
        })
      })
    } catch (error) {
      for (const { log } of written) this.forget(log) // the cached end describes lines that weren't stored
      throw error
    }
  }

  #append(log: LogKey, lines: NewLine[]) {
    const end = this.#endOf(log)
    const { block, length } = end
    const merges = block !== null && (length === 0 || length + lengthOf(lines) <= mergedLength)
    const newest = merges ? getNewestBlock(this.#logDb, log) : null
    if (newest === undefined) return // what it is the log of was deleted meanwhile
    if (!merges) end.origins = new Origins()
    const added = lineRows(lines, end.origins)
    const times = lines.map(({ time }) => time)
    const span = {
      last: end.last + lines.length,
      firstTime: times.reduce((a, b) => Math.min(a, b)),
      lastTime: times.reduce((a, b) => Math.max(a, b)),
    }
    if (newest) {
      const old = newest.data
      const data = pack(unpack(old) + added)
      if (length > 0) {
        span.firstTime = Math.min(span.firstTime, newest.firstTime)
        span.lastTime = Math.max(span.lastTime, newest.lastTime)
      }
      end.block = { ...block!, ...span }
      saveBlock(this.#logDb, { ...end.block, data })
      end.bytes += data.length - old.length
      end.length += added.length
    } else {
      const data = pack(added)
      const made = { ...log, first: end.last + 1, ...span }
      end.block = { id: saveBlock(this.#logDb, { ...made, id: null, data }), ...made }
      end.bytes += data.length
      end.length = added.length
    }
    end.last = span.last
    if (log.logId === '') this.#bound(log, end)
  }

  #bound(log: LogKey, end: End) {
    while (end.bytes > this.#maxOutput) {
      const gone = deleteOldestBlock(this.#logDb, log)
      if (gone === null) return
      end.bytes -= gone
    }
  }

  #endOf(log: LogKey): End {
    const known = this.#ends.get(channelOf(log))
    if (known) return known
    const newest = getNewestBlock(this.#logDb, log)
    const { last, bytes } = getExtent(this.#logDb, log)
    const end: End = { block: null, length: 0, last, bytes, origins: new Origins() }
    if (newest) {
      const { data, ...block } = newest
      const text = unpack(data)
      Object.assign(end, { block, length: text.length, origins: new Origins(text) })
    }
    this.#ends.set(channelOf(log), end)
    return end
  }
}

const lengthOf = (lines: NewLine[]) =>
  lines.reduce((length, { text }) => length + text.length + rowOverhead, 0)
