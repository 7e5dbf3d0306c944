import { killed } from '../docker/index.ts'
import type { Container } from '../docker/index.ts'
import { endMark, memoryMark, startMark } from './marks.ts'
import type { Mark } from './marks.ts'
import type { Cursor } from './cursor-store.ts'

/**
 * Events of a container. `look` means that some may have been missed: only then does an inspection count,
 * since in a loop of restarts it is ahead of the events.
 */
export type LifecycleEvent =
  | { kind: 'started'; at: Date }
  /** The kernel killed one of its processes because memory ran out. */
  | { kind: 'oom'; at: Date }
  /**
   * `isAsked` means that someone asked the engine to kill it. `grace` is in milliseconds: the time between
   * their request to stop it and the kill.
   */
  | { kind: 'ended'; at: Date; exitCode: number; isAsked: boolean; grace?: number | undefined }
  | { kind: 'look' }

/** In milliseconds, between two marks of killed processes: a web server may lose one with each request. */
const rarely = 60_000

/** In milliseconds: how long after an end the engine may not know its reason yet. */
const recent = 5000

/** Marks each start and end of one container once, whether by an event or an inspection. */
export class ContainerLifecycle {
  /** Null while it runs. */
  endedAt: Date | null
  /** True when it has ended and the engine won't restart it. */
  isOver = false
  /** True if there was ever anything to read. */
  hasStarted: boolean
  readonly #cursor: Cursor
  #isUp: boolean
  #ranOut = false
  #startedAt = 0
  /** When a process killed for memory was last marked. */
  #lostAt = -Infinity

  constructor(cursor: Cursor, { isKnown }: { isKnown: boolean }) {
    this.#cursor = cursor
    this.hasStarted = isKnown
    this.endedAt = cursor.endedAt === null ? null : new Date(cursor.endedAt)
    this.#isUp = isKnown && cursor.endedAt === null
  }

  /** The end of the known run's output, in milliseconds since 1970. Later output belongs to the next run. */
  get limit() {
    return this.endedAt && !this.isOver ? this.endedAt.getTime() : Infinity
  }

  /** True when it was just killed for an unknown reason. The engine may report later that memory ran out. */
  lacksReason(news: LifecycleEvent[], found: Container) {
    if (this.#ranOut || found.oomKilled || news.some(({ kind }) => kind === 'oom')) return false
    const ends = news.filter((item) => item.kind === 'ended')
    if (ends.length > 0) return ends.some((end) => end.exitCode === killed && !end.isAsked)
    const isLook = news.some(({ kind }) => kind === 'look')
    return isLook && found.exitCode === killed && this.#hasJustEnded(found)
  }

  /** True when an inspection shows an end that no event has reported yet. */
  #hasJustEnded({ state, startedAt, finishedAt }: Container) {
    if (state !== 'exited' || !startedAt || !finishedAt) return false
    return startedAt > (this.endedAt ?? 0) && Date.now() - finishedAt.getTime() < recent
  }

  /** Returns marks for the events; `found` is the current inspection. */
  hear(news: LifecycleEvent[], found: Container): Mark[] {
    const marks: Mark[] = []
    const runs = !['created', 'exited', 'dead'].includes(found.state)
    for (const [at, item] of news.entries()) {
      if (item.kind === 'oom' && this.#isUp && runs && !endsAfter(news, at))
        marks.push(...this.#lostOne(item.at, found))
      else if (item.kind === 'oom' || (item.kind === 'ended' && isReportedLater(news, at)))
        this.#ranOut = true
      if (item.kind === 'ended' && this.#isUp && item.at.getTime() >= this.#startedAt)
        marks.push(this.#end(item.at, { ...found, ...item, runs }))
      if (item.kind === 'started' && !this.#isUp && item.at > (this.endedAt ?? 0))
        marks.push(this.#start(item.at))
    }
    this.isOver = this.endedAt !== null && !runs
    if (!news.some(({ kind }) => kind === 'look')) return marks
    const { startedAt, finishedAt } = found
    const isLater = startedAt !== null && startedAt > (this.endedAt ?? 0)
    // the clock may have been set back since the end
    const isNew = isLater || (isRunning(found) && !news.some(({ kind }) => kind === 'ended'))
    if (!this.#isUp && startedAt && isNew) marks.push(this.#start(startedAt))
    if (this.#isUp && !runs) marks.push(this.#end(finishedAt ?? new Date(), { ...found, runs }))
    this.isOver = !runs
    return marks
  }

  #start(at: Date) {
    const mark = startMark(this.#cursor, { at, endedBefore: this.endedAt })
    this.hasStarted = this.#isUp = true
    this.#startedAt = at.getTime()
    this.#ranOut = false
    this.endedAt = null
    return mark
  }

  /** The container keeps running, so its next end has another reason. */
  #lostOne(at: Date, { memoryLimit }: Container): Mark[] {
    this.#ranOut = false
    if (at.getTime() < this.#lostAt + rarely) return []
    this.#lostAt = at.getTime()
    return [memoryMark(this.#cursor, { at, memoryLimit })]
  }

  #end(
    at: Date,
    {
      exitCode,
      oomKilled,
      grace,
      runs,
    }: Pick<Container, 'exitCode' | 'oomKilled'> & { grace?: number | undefined; runs: boolean },
  ) {
    this.#isUp = false
    this.endedAt = at
    const reportedAt = runs ? at.getTime() : Infinity
    return endMark(this.#cursor, {
      at,
      reportedAt,
      exitCode,
      grace: exitCode === killed ? grace : undefined,
      oomKilled: (oomKilled || this.#ranOut) && exitCode === killed,
    })
  }
}

const isRunning = ({ state }: Container) => state === 'running' || state === 'paused'

const endsAfter = (news: LifecycleEvent[], at: number) =>
  news.slice(at + 1).some(({ kind }) => kind === 'ended')

/** A busy engine may report that memory ran out after the end that this caused. */
function isReportedLater(news: LifecycleEvent[], end: number) {
  const next = news.slice(end + 1).find(({ kind }) => kind !== 'look')
  return next?.kind === 'oom'
}
