import { resync } from '../live/hub.ts'
import type { Container, Docker, EngineFeed } from '../docker/index.ts'
import { isContainerGone } from '../docker/failures.ts'
import type { SourceMask } from '../logs/masks.ts'
import { Failure } from '../platform/errors.ts'
import { noContainer } from './find.ts'
import { findAfter, findBefore } from './engine-find.ts'
import { itemOf, Numbering, sequenceAt, timeOfSequence, timestampOf } from './log-line.ts'
import type { Line } from './log-line.ts'
import { awayNote, changeNote, endNote, gapNote } from './log-note.ts'
import { disorder, LogOrder, LogPlace } from './log-place.ts'
import { noLines } from './log-source.ts'
import type { LogFound, LogItem, LogSource, LogWanted } from './log-source.ts'
import { atLevels } from '../logs/line-levels.ts'
import { Rest } from '../logs/rest.ts'

/** Milliseconds between requests after the engine's stream ended, growing from the first to the longest. */
const pauses = { first: 250, longest: 10_000 }

/** Milliseconds of the longest timer: what is waited for is an event. */
const longestPause = 2 ** 31 - 1

/** Lines that may be buffered before reading pauses. */
const maxAhead = 1000

/** Reads a container's log from the engine. `mask` is called for each batch, since secrets can change. */
export function engineLog(
  { docker, feed }: { docker: Docker; feed: EngineFeed },
  id: string,
  mask: () => Promise<SourceMask>,
): LogSource {
  return { find, each, follow }

  /** Yields batches as the engine sends them; with a place, only the lines after it. */
  async function* read({
    place,
    ...wanted
  }: Pick<LogWanted, 'tail' | 'since' | 'until' | 'signal'> & {
    place?: LogPlace | undefined
    follow?: boolean
  }): AsyncGenerator<Line[]> {
    const numbering = new Numbering()
    const since = place?.since ?? dateOf(wanted.since)
    const options = { ...wanted, since, until: dateOf(wanted.until) }
    for await (const batch of docker.containerLogs(id, options)) {
      const dated = batch.filter(({ timestamp }) => timestamp !== '')
      const hidden = await mask()
      const lines = dated.map((line) => numbering.number(line, hidden.mask))
      const news = place ? place.take(lines) : lines
      if (news.length > 0) yield news
    }
    const rest = place?.end() ?? []
    if (rest.length > 0) yield rest
  }

  async function find({ after, before, ...wanted }: LogFound) {
    if (wanted.limit === 0) return noLines
    const passes = filterOf(wanted)
    try {
      if (before !== undefined) return await findBefore(read, { ...wanted, before, passes })
      return await findAfter(read, { ...wanted, after: sequenceOf(after), passes })
    } catch (error) {
      throw isContainerGone(error) ? noContainer() : error
    }
  }

  async function* each({ after, ...wanted }: LogWanted): AsyncGenerator<Line[]> {
    const passes = filterOf(wanted)
    const place = after === undefined || isNumber(after) ? undefined : new LogPlace(after)
    const from = place ? 0 : sequenceOf(after)
    try {
      for await (const lines of read({ ...wanted, place }))
        yield lines.filter((line) => passes(line) && line.sequence > from)
    } catch (error) {
      throw isContainerGone(error) ? noContainer() : error
    }
  }

  async function* follow(wanted: LogWanted): AsyncGenerator<LogItem> {
    const { after, tail, since, signal } = wanted
    const passes = filterOf(wanted)
    const rest = new Rest(signal)
    void endAtEvents(rest, { feed, id, signal })
    let seen: Container | 'away' | null = null
    let behind: string | null = null
    let hasBegun = false
    for (let pause = pauses.first; !signal.aborted;) {
      rest.begin()
      try {
        const container = await docker.inspectContainer(id, { signal })
        if (!container) return yield endNote('removed')
        const seenAt = Date.now()
        const note = changeNote(seen, container)
        seen = container
        if (note) yield note
        if (!hasBegun && after !== undefined)
          behind = isNumber(after) ? await idAt(Number(after), signal) : await known(after, signal)
        const before: string | null = behind
        const place: LogPlace | undefined = before === null ? undefined : new LogPlace(before)
        const from: Partial<LogWanted> & { place?: LogPlace } = place
          ? { place }
          : hasBegun
            ? {}
            : { tail, since }
        const order = new LogOrder()
        let hasRead = false
        const span = isOver(container) ? { until: endOf(container, seenAt) } : { follow: true }
        for await (const lines of ahead(read({ ...from, ...span, signal }))) {
          if (place?.missed && !hasRead) yield gapNote(before!)
          hasRead = hasBegun = true
          pause = pauses.first
          const news: Line[] = lines.filter((line) => order.isNew(line))
          behind = news.at(-1)?.id ?? behind
          const shown = news.filter(passes)
          if (shown.length > 0) yield itemOf(shown)
        }
        hasBegun = true
        behind ??= await lastId(signal)
        if (isOver(container))
          await rest.upTo(container.state === 'restarting' ? 1000 : longestPause)
        else if (!hasRead) await rest.upTo((pause = Math.min(pause * 2, pauses.longest)))
      } catch (error) {
        if (signal.aborted) return
        if (isUnreadable(error)) return yield endNote('unreadable')
        if (!isContainerGone(error) && !(error instanceof Failure)) throw error
        if (error instanceof Failure && seen !== 'away') {
          seen = 'away'
          yield awayNote()
        }
        await rest.upTo((pause = Math.min(pause * 2, pauses.longest)))
      }
    }
  }

  /** If `after` is later than every line, continues from the newest one: new lines would be skipped. */
  async function known(after: string, signal: AbortSignal) {
    const newest = await lastId(signal)
    return newest === null || timestampOf(newest) < timestampOf(after) ? newest : after
  }

  /** The id of the last line up to that sequence number; null before the first line. */
  async function idAt(sequence: number, signal: AbortSignal) {
    let found: string | null = null
    const since = timeOfSequence(sequence) - disorder
    for await (const lines of read({ since: Math.min(since, Date.now()), signal }))
      for (const line of lines) if (line.sequence <= sequence) found = line.id
    return found
  }

  async function lastId(signal: AbortSignal) {
    let found: string | null = null
    for await (const lines of read({ tail: 1, signal })) found = lines.at(-1)!.id
    return found
  }
}

/** Buffers while earlier lines are being sent, and yields everything buffered as one batch. */
async function* ahead(source: AsyncGenerator<Line[]>): AsyncGenerator<Line[]> {
  let waiting: Line[] = []
  let hasEnded = false
  let news = Promise.withResolvers<void>()
  let room = Promise.withResolvers<void>()
  const reading = (async () => {
    try {
      for await (const lines of source) {
        waiting = waiting.concat(lines)
        news.resolve()
        if (waiting.length < maxAhead) continue
        room = Promise.withResolvers()
        await room.promise
      }
    } finally {
      hasEnded = true
      news.resolve()
    }
  })()
  reading.catch(() => {}) // rethrown below, once all buffered lines are sent
  try {
    for (;;) {
      news = Promise.withResolvers()
      if (waiting.length === 0 && !hasEnded) await news.promise
      const lines = waiting
      waiting = []
      room.resolve()
      if (lines.length > 0) yield lines
      else if (hasEnded) return await reading
    }
  } finally {
    room.resolve()
    void source.return(undefined)
  }
}

/** Ends a wait when an event of this container arrives, or a resync. */
async function endAtEvents(
  rest: Rest,
  { feed, id, signal }: { feed: EngineFeed; id: string; signal: AbortSignal },
) {
  for await (const event of feed.listen(signal)) if (event === resync || event.id === id) rest.end()
}

function filterOf({ stream, search, level }: Pick<LogWanted, 'stream' | 'search' | 'level'>) {
  const text = search?.toLowerCase()
  const isAt = atLevels(level)
  return (line: Line) =>
    isAt(line) &&
    (!stream || line.stream === stream) &&
    (!text || line.text.toLowerCase().includes(text))
}

const isNumber = (id: string) => /^\d+$/.test(id)

/** The id is a sequence number or contains a timestamp. */
const sequenceOf = (id = '0') => (isNumber(id) ? Number(id) : sequenceAt(id))

/** True while nothing more can be written until an event of the container. */
const isOver = ({ state }: Container) =>
  state === 'exited' || state === 'created' || state === 'dead' || state === 'restarting'

/**
 * Its last lines are written by then, as the engine only reports the end afterwards: on a busy
 * machine it dates them later than the end. Anything later belongs to its next start.
 */
const endOf = ({ finishedAt }: Container, seenAt: number) =>
  finishedAt === null ? undefined : Math.max(finishedAt.getTime(), seenAt) + 1

export const isUnreadable = (error: unknown) =>
  error instanceof Failure && error.code === 'logs_unavailable'

const dateOf = (time: number | undefined) => (time === undefined ? undefined : new Date(time))
