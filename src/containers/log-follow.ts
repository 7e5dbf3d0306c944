import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { resync } from '../live/hub.ts'
import type { LivePlace } from './live-log.ts'
import type { LiveLogs } from './live-logs.ts'
import { LogBatch } from './log-batch.ts'
import { awayNote, endNote, gapNote, LogNote } from './log-note.ts'
import { LogPlace } from './log-place.ts'
import { isGone, isUnreadable, readLog } from './log-read.ts'
import type { LogSource, LogWanted } from './log-read.ts'

/** Milliseconds before an engine that is away is asked again. */
const retryDelay = 1000

type FollowDeps = { docker: Docker; liveLogs: LiveLogs }
type Asked = Pick<LogWanted, 'tail' | 'since'> & { after?: string | undefined }

/**
 * The lines that are asked for, those that the engine has first, then live ones, without a gap or a
 * repeat as far as the engine still has them, and what happens to the container between them.
 */
export async function* followContainerLog(
  deps: FollowDeps,
  source: LogSource,
  { signal, ...asked }: Asked & { signal: AbortSignal },
): AsyncGenerator<LogBatch | LogNote> {
  const viewer = new LogViewer(deps, source, signal)
  let isAway = false
  while (!signal.aborted && !viewer.ended)
    try {
      for await (const item of viewer.next(asked))
        yield item instanceof LogBatch ? item.hiding(await source.mask()) : item
      isAway = false
    } catch (error) {
      if (signal.aborted) return
      if (isUnreadable(error)) return yield endNote('unreadable')
      if (isGone(error)) return yield endNote('removed')
      if (!(error instanceof Failure)) throw error
      if (!isAway) yield awayNote()
      isAway = true
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
}

/** What the engine has up to a time, and nothing live. */
export async function* readUntil(
  { docker }: { docker: Docker },
  source: LogSource,
  { after, tail, since, until, signal }: Asked & { until: Date; signal: AbortSignal },
): AsyncGenerator<LogBatch | LogNote> {
  const place = after === undefined ? undefined : new LogPlace(after)
  try {
    for await (const lines of readLog(docker, source, { place, tail, since, until, signal }))
      yield new LogBatch(lines)
    yield endNote('until')
  } catch (error) {
    if (!isUnreadable(error)) throw error
    yield endNote('unreadable')
  }
}

/** Goes from what the engine has to what is live, and back when it falls behind. */
class LogViewer {
  ended = false
  hasBegun = false
  /** True when what is live goes on later than the last line seen. */
  isBehind = false
  readonly #docker: Docker
  readonly #source: LogSource
  readonly #signal: AbortSignal
  readonly #live
  /** The number of the next live item, and the line before it. */
  #next: number
  #before: string | null
  /** The last line of the log that was passed on. */
  #seen: string | null = null
  #reread: LogBatch | null = null

  constructor({ docker, liveLogs }: FollowDeps, source: LogSource, signal: AbortSignal) {
    this.#docker = docker
    this.#source = source
    this.#signal = signal
    this.#live = liveLogs.watch(source, signal) // before the engine is asked, so that nothing falls between
    this.#next = this.#live.items.next
    this.#before = this.#live.last
  }

  /** What comes first, what was missed, or what comes live, whichever is due. */
  next(asked: Asked) {
    if (!this.hasBegun) return this.#begin(asked)
    return this.isBehind ? this.#readOn() : this.#watch()
  }

  async *#begin({ after, tail, since }: Asked): AsyncGenerator<LogBatch | LogNote> {
    const { state } = this.#live
    if (state) yield new LogNote({ state })
    this.#seen ??= after ?? null
    const here = since && this.#seen === null ? null : await this.#placeHere(tail)
    if (here) yield* this.#goOn(here)
    else if (this.#seen !== null) yield* this.#readOn()
    else {
      if (tail !== 0) yield* this.#read({ tail, since })
      this.#seen ??= await this.#lastLine()
    }
    this.hasBegun = true
  }

  /** Where to begin with what is live, so that the engine need not be asked. */
  #placeHere(tail: number | undefined) {
    if (this.#seen !== null) return this.#live.placeBehind(this.#seen)
    return tail === undefined ? null : this.#live.placeOfLast(tail)
  }

  *#goOn({ number, rest, last }: LivePlace) {
    this.#next = number + 1
    this.#before = this.#seen = last
    if (rest.length > 0) yield new LogBatch(rest)
  }

  /** What comes live, until the end or until it goes on too late. */
  async *#watch(): AsyncGenerator<LogBatch | LogNote> {
    let place = this.#seen === this.#before ? null : this.#seen && new LogPlace(this.#seen)
    for await (const item of this.#live.items.from(this.#next, this.#signal)) {
      if (item === resync) return this.#fallBehind(this.#live.items.next, this.#live.last)
      if (item instanceof LogBatch) {
        if (this.#isDetached(item)) {
          this.#reread = item
          return this.#fallBehind(this.#next, null)
        }
        const lines = place ? place.take(item.lines) : item.lines
        if (place && place.missed) yield gapNote(this.#seen!)
        if (place && place.passed) place = null
        if (lines.length > 0) {
          this.#seen = lines.at(-1)!.id
          yield lines === item.lines ? item : new LogBatch(lines)
        }
      } else yield item
      this.#next++
    }
    this.ended = true
  }

  /** Reads from the engine what came after the last line that was seen. */
  async *#readOn(): AsyncGenerator<LogBatch | LogNote> {
    const after = this.#seen
    const place = after === null ? undefined : new LogPlace(after)
    let isTold = false
    for await (const batch of this.#read({ place })) {
      if (place?.missed && !isTold) yield gapNote(after!)
      isTold = true
      yield batch
    }
    if (place && !place.passed) this.#seen = await this.#lastLine() // no id of this log, or its end
    this.isBehind = false
  }

  /** Whether lines between the last one seen and these may be left out. */
  #isDetached(batch: LogBatch) {
    return batch.fresh && batch !== this.#reread && !(this.#seen && batch.has(this.#seen))
  }

  #fallBehind(next: number, before: string | null) {
    this.isBehind = true
    this.#next = next
    this.#before = before
  }

  async *#read(wanted: LogWanted & { place?: LogPlace | undefined }) {
    const options = { ...wanted, signal: this.#signal }
    for await (const lines of readLog(this.#docker, this.#source, options)) {
      this.#seen = lines.at(-1)!.id
      yield new LogBatch(lines)
    }
  }

  async #lastLine() {
    let last: string | null = null
    const options = { tail: 1, signal: this.#signal }
    for await (const lines of readLog(this.#docker, this.#source, options)) last = lines.at(-1)!.id
    return last
  }
}
