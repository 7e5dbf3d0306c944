import { setTimeout as sleep } from 'node:timers/promises'
import type { Container, Docker, EngineFeed } from '../docker/index.ts'
import { resync } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { LogBatch } from './log-batch.ts'
import type { Line } from './log-line.ts'
import { awayNote, changeNote, endNote } from './log-note.ts'
import type { LogNote } from './log-note.ts'
import { LogOrder } from './log-order.ts'
import { LogPlace } from './log-place.ts'
import { isGone, isUnreadable, readLog } from './log-read.ts'
import type { LogSource } from './log-read.ts'
import { LogRing } from './log-ring.ts'

/** Milliseconds for which lines are gathered: fewer and larger writes to those who watch. */
const gathering = 50

/** Bytes after which they are sent at once. */
const batchSize = 32 * 1024

const ring = { size: 2 * 1024 * 1024, ahead: 16 }

/** Lines from before, by which viewers find where the live ones go on from theirs. */
const overlap = 1000

/** Milliseconds to wait for the first lines; a container may have none. */
const priming = 300

/** Milliseconds before the engine is asked again after its stream ended: first, and at most. */
const pauses = { first: 250, longest: 10_000 }

type LiveDeps = { docker: Docker; feed: EngineFeed }

/** An item, those of its lines that are wanted, and its last one. */
export type LivePlace = { number: number; rest: Line[]; last: string }

/** The log of one container, followed once for all who watch it, until the signal. */
export class LiveLog {
  readonly items = new LogRing<LogBatch | LogNote>(ring)
  /** The last line among the items. */
  last: string | null = null
  /** True when nothing more will come. */
  ended = false
  readonly #primed = Promise.withResolvers<void>()
  readonly #deps: LiveDeps
  readonly #source: LogSource
  readonly #signal: AbortSignal
  #seen: Container | 'away' | null = null
  #stirred = Promise.withResolvers<void>()
  #pending: Line[] = []
  #pendingSize = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  #isFresh = true

  constructor(deps: LiveDeps, source: LogSource, signal: AbortSignal) {
    this.#deps = deps
    this.#source = source
    this.#signal = signal
  }

  /** The container's state, as far as it is known. */
  get state() {
    return this.#seen === 'away' ? 'away' : (this.#seen?.state ?? null)
  }

  /** Where the last lines begin, if they are here. */
  async placeOfLast(count: number): Promise<LivePlace | null> {
    await this.#priming()
    let wanted = count
    for (const [number, item] of this.items.backwards()) {
      if (!(item instanceof LogBatch)) continue
      wanted -= item.lines.length
      if (wanted <= 0) return { number, rest: item.lines.slice(-wanted), last: item.last }
      if (item.fresh) return null
    }
    return null
  }

  /** Where it goes on behind a line, if it is here. */
  async placeBehind(id: string): Promise<LivePlace | null> {
    await this.#priming()
    for (const [number, item] of this.items.backwards()) {
      if (!(item instanceof LogBatch)) continue
      const at = item.lines.findIndex((line) => line.id === id)
      if (at >= 0) return { number, rest: item.lines.slice(at + 1), last: item.last }
      if (item.fresh) return null
    }
    return null
  }

  #priming() {
    return Promise.race([this.#primed.promise, sleep(priming)])
  }

  async run() {
    void this.#listen()
    let pause = pauses.first
    while (!this.#signal.aborted && !this.ended) {
      this.#stirred = Promise.withResolvers()
      try {
        const container = await this.#look()
        if (!container) return this.#end(endNote('removed'))
        if (isOver(container)) await this.#stirring(longestWait(container))
        else if (await this.#follow()) pause = pauses.first
        else await this.#stirring((pause = Math.min(pause * 2, pauses.longest)))
      } catch (error) {
        if (this.#signal.aborted) return
        this.#flush()
        if (isUnreadable(error)) return this.#end(endNote('unreadable'))
        if (error instanceof Failure) this.#tellAway()
        else if (!isGone(error))
          report('following a log failed', error, { container: this.#source.id })
        await this.#stirring((pause = Math.min(pause * 2, pauses.longest)))
      }
    }
  }

  /** Wakes the loop when something happens to the container, or may have. */
  async #listen() {
    for await (const event of this.#deps.feed.listen(this.#signal))
      if (event === resync || event.id === this.#source.id) this.#stirred.resolve()
  }

  async #look() {
    const signal = this.#signal
    const container = await this.#deps.docker.inspectContainer(this.#source.id, { signal })
    if (!container) return null
    const note = changeNote(this.#seen, container)
    this.#seen = container
    if (note) this.items.push(note)
    return container
  }

  /** Until the engine's stream ends, which need not be the end of the container; false if it brought nothing. */
  async #follow() {
    const place = this.last === null ? undefined : new LogPlace(this.last)
    const order = new LogOrder()
    let brought = false
    this.#isFresh = place === undefined
    const options = { follow: true, signal: this.#signal }
    const asked = place ? { ...options, place } : { ...options, tail: overlap }
    for await (const lines of readLog(this.#deps.docker, this.#source, asked)) {
      brought = true
      if (place?.missed && !this.#isFresh && this.#pending.length === 0) this.#isFresh = true
      this.#add(lines.filter((line) => order.isNew(line)))
      if (this.#pendingSize < batchSize) continue
      this.#flush()
      await this.items.room(this.#signal)
    }
    this.#flush()
    return brought
  }

  #add(lines: Line[]) {
    for (const line of lines) {
      this.#pending.push(line)
      this.#pendingSize += line.text.length
    }
    if (this.last === null) this.#flush()
    if (this.#pending.length > 0) this.#timer ??= setTimeout(() => this.#flush(), gathering)
  }

  #flush() {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#pending.length === 0) return
    const batch = new LogBatch(this.#pending, this.#isFresh)
    this.#isFresh = false
    this.#pending = []
    this.#pendingSize = 0
    this.last = batch.last
    this.items.push(batch)
    this.#primed.resolve()
  }

  #tellAway() {
    if (this.#seen === 'away') return
    this.#seen = 'away'
    this.items.push(awayNote())
  }

  #end(note: LogNote) {
    this.ended = true
    this.items.push(note)
    this.items.close()
    this.#primed.resolve()
  }

  /** Waits for something to happen to the container, for so many milliseconds at most. */
  async #stirring(milliseconds?: number) {
    this.#primed.resolve()
    const woken = new AbortController()
    const signal = AbortSignal.any([this.#signal, woken.signal])
    void this.#stirred.promise.then(() => woken.abort())
    await sleep(milliseconds ?? 2 ** 31 - 1, undefined, { signal }).catch(() => {})
  }
}

/** One that is about to start again is looked at even when nothing is heard of it. */
const longestWait = ({ state }: Container) => (state === 'restarting' ? 1000 : undefined)

/** Nothing more is written until something happens to it. */
const isOver = ({ state }: Container) =>
  state === 'exited' || state === 'created' || state === 'dead' || state === 'restarting'
