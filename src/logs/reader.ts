import { diskFull } from '../db/failures.ts'
import type { Db, LogDb } from '../db/index.ts'
import { isContainerGone } from '../docker/failures.ts'
import type { Container, Docker, Engines } from '../docker/index.ts'
import { report } from '../platform/journal.ts'
import { sleepUpTo, untilBeat } from '../platform/pause.ts'
import type { Semaphore } from '../platform/semaphore.ts'
import { LineBuffer } from './line-buffer.ts'
import { ContainerLifecycle } from './container-lifecycle.ts'
import type { LifecycleEvent } from './container-lifecycle.ts'
import { removalMark } from './marks.ts'
import { SourceGone } from './read-batches.ts'
import type { Batch, ReadBatches, BatchSlot } from './read-batches.ts'
import { deleteCursors } from './cursor-store.ts'
import type { Cursor } from './cursor-store.ts'
import type { Masks } from './masks.ts'
import { limitOfBatch, upTo } from './position.ts'
import { originOf } from './process-store.ts'
import { Progress } from './progress.ts'
import { pull } from './pull.ts'
import { Rest } from './rest.ts'

/**
 * In milliseconds, between two pulls of a container: while someone follows its log, and while no one does.
 * Each pull costs the engine and Davit some milliseconds, however little it returns. All logs that no one
 * follows are read at the same time.
 */
const interval = 1000
const longInterval = 5000

/** In lines per second, above which a container is always pulled often: the engine keeps few lines. */
const chatty = 100

/** After this many empty pulls in a row, Davit waits for a signal of the engine instead. */
const quietAfter = 3

/** In milliseconds: a quiet container is pulled at least this often. */
const longestQuiet = 60_000

/** In milliseconds: how late the engine's signal for new output may be. */
const ringDelay = 100

/** In milliseconds: how soon an end follows when memory ran out. */
const endDelay = 500

/** The minimum of entries that are requested. */
const fewest = 500

const look = { kind: 'look' } as const

type ReaderDeps = { db: Db; logDb: LogDb; engines: Engines; docker: Docker; masks: Masks }
type Reading = {
  cursor: Cursor
  /** True if it was read before. */
  isKnown: boolean
  /** The event that caused the reading. */
  news: LifecycleEvent
  /** The batches of the log that stores its output. */
  readBatches: ReadBatches
  /** Limits the containers that are read at the same time. */
  pulls: Semaphore
  signal: AbortSignal
}

/**
 * Reads the output of one container from the stored position until its end. It never follows the engine's
 * stream: the engine's files are the buffer, so the app never waits for a reader, and output that no one
 * reads is found later.
 */
export class Reader {
  /** True when it accepts no more events: a container that starts again needs a new reader. */
  closed = false
  readonly progress = new Progress()
  /** Resolves when it has ended. */
  readonly done: Promise<void>
  readonly #deps: ReaderDeps
  readonly #cursor: Cursor
  readonly #pulls: Semaphore
  readonly #readBatches: ReadBatches
  readonly #signal: AbortSignal
  readonly #givenUp = new AbortController()
  readonly #buffer: LineBuffer
  readonly #lifecycle: ContainerLifecycle
  readonly #rest: Rest
  #news: LifecycleEvent[]
  /** Resolves for those who wait until everything is stored. */
  #caughtUp: PromiseWithResolvers<void> | null = null
  #isDone = false
  #tty = false
  /** The container whose secrets are masked. */
  #found: Pick<Container, 'labels' | 'env'> = { labels: {}, env: [] }
  /** Empty pulls in a row; when the last pull began, and how many milliseconds it took. */
  #empty = 0
  #pulledAt = performance.now()
  #took = 0

  constructor(deps: ReaderDeps, { cursor, isKnown, news, readBatches, pulls, signal }: Reading) {
    this.#deps = deps
    this.#pulls = pulls
    this.#signal = AbortSignal.any([signal, this.#givenUp.signal])
    this.#rest = new Rest(this.#signal)
    this.#cursor = cursor
    this.#news = [news]
    this.#readBatches = readBatches
    const write = (batches: Batch[]) => {
      readBatches.write(batches)
      this.progress.stored()
    }
    this.#buffer = new LineBuffer(deps, { cursor, log: readBatches.log, write })
    this.#lifecycle = new ContainerLifecycle(cursor, { isKnown })
    this.done = this.#run().finally(() => {
      this.closed = this.#isDone = true
      this.#caughtUp?.resolve()
    })
  }

  tell(news: LifecycleEvent) {
    this.#news.push(news)
    this.#rest.end()
  }

  /** Resolves when everything that the container has written by now is stored. */
  catchUp() {
    if (this.#isDone) return Promise.resolve()
    this.#caughtUp ??= Promise.withResolvers()
    this.tell(look) // until this is handled no wait is over
    return this.#caughtUp.promise
  }

  /** For a container that is about to be removed: stops reading, and says in the log that lines may be missing. */
  async giveUp() {
    const isFirst = !this.#givenUp.signal.aborted
    this.#givenUp.abort()
    await this.done
    if (isFirst) this.#markRemoval()
  }

  async #run() {
    for (let quiet = false; !this.#signal.aborted && !this.closed;)
      try {
        while (this.#isAway) await this.#rest.untilEvent()
        await this.#readOnce()
        quiet = false
      } catch (error) {
        if (this.#signal.aborted || error instanceof SourceGone) return
        // the next look finds it gone
        if (!quiet && !isContainerGone(error))
          report('output was not read', error, { container: this.#cursor.containerId })
        quiet = true
        await this.#rest.upTo(interval)
        if (this.#news.length === 0) this.#news.push(look)
      }
  }

  /** Then nothing is asked of its server, whose return is told. */
  get #isAway() {
    return this.#deps.engines.isAway(this.#deps.docker)
  }

  async #readOnce() {
    this.#rest.begin() // before anything can fail, or no later wait would follow
    if (this.#deps.logDb.$client.reserve.isGone) throw diskFull() // the engine keeps the output for later
    using slot = this.#readBatches.enter() // before others, which wake at the same time, have finished reading
    if (this.#news.length > 0) await this.#hear()
    if (this.closed) return
    const count = await this.#pull(slot)
    if (this.#news.length > 0) return
    this.#caughtUp?.resolve()
    this.#caughtUp = null
    if (this.#lifecycle.isOver) return void (this.closed = true)
    if (this.#lifecycle.limit < Infinity) return this.#waitForNews()
    this.#empty = count === 0 ? this.#empty + 1 : 0
    if (this.#empty < quietAfter) await this.#restBetween()
    else await this.#waitForRing()
  }

  /** Waits until the next pull is due, another reader of the log starts one, or someone follows the log. */
  async #restBetween() {
    const { rate, hadGap } = this.#buffer
    if (this.#readBatches.isFollowed || rate >= chatty || hadGap || this.#empty > 0)
      return this.#rest.upTo(this.#pace(), this.#readBatches.next)
    const { promise: followed, resolve } = Promise.withResolvers<void>()
    const leave = this.#readBatches.whenFollowed(this.#signal, resolve)
    await this.#rest.upTo(untilBeat(longInterval), Promise.race([this.#readBatches.next, followed]))
    leave()
  }

  /** Leaves half of the time to the engine, or somewhat less if it is slow and waiting would lose lines. */
  #pace() {
    const wait = this.#buffer.hadGap ? this.#took : Math.min(this.#took, interval)
    return Math.max(interval - this.#took, wait)
  }

  /** Marks the container's events. */
  async #hear() {
    const { docker, logDb } = this.#deps
    const { containerId } = this.#cursor
    const options = { signal: this.#signal }
    if (this.#news.some(({ kind }) => kind === 'oom')) await sleepUpTo(endDelay, this.#signal)
    let found = await docker.inspectContainer(containerId, options)
    if (found && this.#lifecycle.lacksReason(this.#news, found)) {
      const end = this.#news.findLast((item) => item.kind === 'ended')
      found = await docker.inspectEnded(containerId, { ...options, endedAt: end?.at })
    }
    const news = this.#news.splice(0)
    if (found) {
      this.#tty = found.tty
      const marks = this.#lifecycle.hear(news, found)
      const isOfJob = this.#readBatches.log.logId !== '' // which marks them itself
      if (!isOfJob) for (const mark of marks) this.#buffer.mark(mark)
      if (this.#lifecycle.hasStarted) this.#found = found
      else this.closed = true
      return
    }
    this.#buffer.origin = originOf(this.#deps.db, this.#cursor, {})
    if (this.#lifecycle.hasStarted) this.#markRemoval()
    deleteCursors(logDb, [containerId])
    this.closed = true
  }

  /** Unless everything up to its end is stored. */
  #markRemoval() {
    const { endedAt } = this.#lifecycle
    if (endedAt && endedAt.getTime() === this.#buffer.endedAt) return
    this.#buffer.close(removalMark(this.#cursor))
  }

  /** Reads new entries, stores them with those of other containers, and returns the number of lines. */
  async #pull(slot: BatchSlot) {
    this.#buffer.origin = originOf(this.#deps.db, this.#cursor, this.#found.labels)
    this.#cursor.deploymentId = this.#buffer.origin.deploymentId
    const mayComeLater =
      this.#readBatches.readers > 1 && !this.#lifecycle.endedAt && !this.#caughtUp
    await this.#takeIn(mayComeLater ? slot.until : Infinity)
    return await this.#buffer.settle({ endedAt: this.#lifecycle.endedAt, slot })
  }

  async #takeIn(until: number) {
    using _ = await this.progress.turn(this.#pulls, this.#signal)
    const { position, rate, overlap, mayBeEarlier } = this.#buffer
    const now = performance.now()
    const expected = fewest + Math.ceil((1.5 * rate * (now - this.#pulledAt)) / 1000)
    this.#pulledAt = now
    const options = { tty: this.#tty, signal: this.#signal }
    this.#buffer.begin(await this.#deps.masks.ofContainer(this.#found))
    if (this.#buffer.isFull) return
    const snapshot = this.progress.counted((asked) =>
      this.#deps.docker.logSnapshot(this.#cursor.containerId, { ...asked, ...options }),
    )
    const from = { position, expected, overlap, mayBeEarlier }
    for await (const pulled of pull(snapshot, from)) {
      const batchLimit = limitOfBatch(until, pulled.entries)
      const entries = upTo(Math.min(batchLimit, this.#limit()), pulled.entries)
      if (entries.length > 0) this.#buffer.add({ ...pulled, entries })
      if (entries.length < pulled.entries.length) break
    }
    this.#took = performance.now() - now
  }

  /** Output after an end isn't read before the end is marked. */
  #limit() {
    const end = this.#news.find((item) => item.kind === 'ended')
    return Math.min(this.#lifecycle.limit, end ? end.at.getTime() : Infinity)
  }

  /** Makes an idle container cost nothing: the engine's first byte signals new output. */
  async #waitForRing() {
    const over = new AbortController()
    const signal = AbortSignal.any([this.#signal, over.signal])
    const ring = this.#deps.docker.waitForOutput(this.#cursor.containerId, { signal }).then(
      () => this.#buffer.quietUpTo(Date.now() - ringDelay),
      () => {},
    )
    try {
      await this.#rest.upTo(interval) // by then the engine listens; one more pull finds what came before
      if (this.#news.length > 0 || this.#isAway) return
      using slot = this.#readBatches.enter()
      if ((await this.#pull(slot)) > 0) return
      await this.#waitForNews(ring)
    } finally {
      over.abort()
    }
    this.#empty = 0
  }

  /** Waits for an event or the signal; after a long time it looks anyway. */
  async #waitForNews(ring?: Promise<void>) {
    const end = performance.now() + longestQuiet
    await this.#rest.upTo(longestQuiet, ring)
    if (performance.now() >= end) this.#news.push(look)
  }
}
