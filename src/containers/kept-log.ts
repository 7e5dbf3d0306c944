import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '../docker/index.ts'
import { followLog } from '../logs/follow-log.ts'
import { LogBatch } from '../logs/log-batch.ts'
import type { Line as KeptLine } from '../logs/log-line.tsx'
import { eachLines, listLastLines, passing } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { merged } from '../live/merged.ts'
import { followStates } from './follow-states.ts'
import { rendering, timestampOf } from './log-line.ts'
import type { Line, LineFormat } from './log-line.ts'
import { LogNote } from './log-note.ts'
import type { LogDeps, LogItem, LogSource, LogWanted } from './log-source.ts'

/** Lines that are read at a time to find the last ones of one container among those of others. */
const page = { limit: 1000, maxLength: 256 * 1024 }

/** Characters of lines that are answered at once. */
const usualLength = 4 * 2 ** 20

/** Milliseconds after which as many of the last lines are answered as were found. */
const patience = 2000

/** Milliseconds in which the last lines of a container that is gone are stored. */
const lastLines = 1000

/** The log of one of Davit's containers, of what is kept of its environment or service. */
export function keptLog(
  deps: LogDeps,
  { id, name, createdAt }: Pick<Container, 'id' | 'name' | 'createdAt'>,
  log: LogKey,
): LogSource {
  const created = createdAt.getTime()

  /** Another container had the name before. */
  const filterOf = ({ since, until, stream, search }: Partial<LogWanted>) => ({
    since: Math.max(created, since?.getTime() ?? 0),
    until: until?.getTime(),
    stream,
    search,
    container: name,
  })

  return {
    async last({ tail, maxLength = usualLength, ...wanted }) {
      return (await lastOf({ ...wanted, tail, maxLength })).map(lineOf)
    },
    async *each({ tail: _, after, ...wanted }) {
      for await (const lines of eachLines(deps, log, { ...filterOf(wanted), ...placeOf(after) }))
        yield lines.map(lineOf)
    },
    async *follow({ tail, after, signal, ...wanted }) {
      const { last } = getExtent(deps.logDb, log)
      const filter = filterOf(wanted)
      for await (const lines of begin({ tail, after, last, signal, ...wanted }))
        yield itemOf(new LogBatch(lines))
      const passes = passing({ ...filter, since: undefined })
      const lines = followLog(deps, log, { after: last, signal })
      for await (const event of merged<LogNote | Event>([lines, states(signal)])) {
        if (event instanceof LogNote) yield event
        else if (event instanceof LogBatch) {
          const own = event.only(passes)
          if (own) yield itemOf(own)
        }
        if (event instanceof LogNote && event.about.done) return
      }
    },
  }

  /** What is stored up to that line, from where it is asked for. */
  async function* begin({
    tail,
    after,
    last,
    ...wanted
  }: LogWanted & { after?: string | undefined; last: number }) {
    if (after === undefined && tail !== undefined) {
      const lines = await lastOf({ ...wanted, tail, last, maxLength: usualLength })
      if (lines.length > 0) yield lines
      return
    }
    for await (const lines of eachLines(deps, log, { ...filterOf(wanted), ...placeOf(after) })) {
      const stored = lines.filter(({ sequence }) => sequence <= last)
      if (stored.length > 0) yield stored
      if (stored.length < lines.length) return
    }
  }

  async function lastOf({
    tail,
    last = Infinity,
    maxLength,
    ...wanted
  }: LogWanted & { tail: number; last?: number; maxLength: number }) {
    const filter = filterOf(wanted)
    const passes = passing(filter)
    const end = performance.now() + patience
    const found: KeptLine[] = []
    let length = 0
    for (let before = last + 1; found.length < tail && performance.now() < end;) {
      const lines = await listLastLines(deps, log, { before, ...page })
      for (const line of lines.filter(passes).toReversed()) {
        if (found.length === tail || length >= maxLength) return found.reverse()
        found.push(line)
        length += line.text.length
      }
      if (lines.length === 0 || lines[0]!.time < filter.since) break
      before = lines[0]!.sequence
    }
    return found.reverse()
  }

  /** That a container is gone is said when its last lines are stored. */
  async function* states(signal: AbortSignal) {
    for await (const { about } of followStates(deps, id, signal)) {
      const { state, done } = about
      if (done) await sleep(lastLines, undefined, { signal }).catch(() => {})
      yield new LogNote(done ? about : { ...(state && { state }) })
    }
  }
}

type Event = LogBatch | { status: string }

/** An id that an earlier version gave out was the time at which the engine had the line. */
function placeOf(after: string | undefined) {
  if (after === undefined) return { after: 0 }
  if (/^\d+$/.test(after)) return { after: Number(after) }
  return { after: 0, since: Date.parse(timestampOf(after)) }
}

const lineOf = ({ sequence, time, stream, text }: KeptLine): Line => ({
  id: String(sequence),
  timestamp: new Date(time).toISOString(),
  stream,
  text,
})

/** Each the same function for all batches, which are rendered once for all who watch. */
const keptRendering: Record<LineFormat, (line: KeptLine) => string> = {
  html: (line) => rendering.html(lineOf(line)),
  bare: (line) => rendering.bare(lineOf(line)),
  json: (line) => rendering.json(lineOf(line)),
}

const itemOf = (batch: LogBatch): LogItem => ({
  events: (format) => batch.encoded(keptRendering[format]),
})
