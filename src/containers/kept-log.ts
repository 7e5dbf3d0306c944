import type { Container } from '../docker/index.ts'
import { followLog } from '../logs/follow-log.ts'
import { LogBatch } from '../logs/log-batch.ts'
import { lineHtml } from '../logs/log-line.tsx'
import type { Line as KeptLine } from '../logs/log-line.tsx'
import { eachLines, findLastLines, findLines, listLastLines } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { merged } from '../live/merged.ts'
import { end, rendering, timestampOf } from './log-line.ts'
import type { Line, LineFormat } from './log-line.ts'
import { endNote, LogNote } from './log-note.ts'
import { lastLength, noLines } from './log-source.ts'
import type { LogDeps, LogFound, LogItem, LogPage, LogSource, LogWanted } from './log-source.ts'
import { sleepUpTo } from '../platform/pause.ts'

/** Milliseconds in which the last lines of a removed container are stored. */
const lastLines = 1000

export function keptLog(
  deps: LogDeps,
  { id, name, createdAt }: Pick<Container, 'id' | 'name' | 'createdAt'>,
  log: LogKey,
): LogSource {
  const created = createdAt.getTime()

  /**
   * Limited by time, because an earlier container can have had the same name. The lines of a job name no
   * container, as it has only one.
   */
  const filterOf = ({ since, until, stream, search, level }: Partial<LogWanted>) => ({
    since: Math.max(created, since ?? 0),
    until,
    stream,
    search,
    level,
    container: log.logId ? undefined : name,
  })

  return {
    find,
    async *each({ after, ...wanted }) {
      await deps.logs.refresh(log)
      const asked = { ...filterOf(wanted), ...positionOf(after) }
      for await (const { lines } of eachLines(deps, log, asked)) yield lines.map(lineOf)
    },
    async *follow({ tail, after, signal, ...wanted }) {
      const { until: _, ...filter } = filterOf(wanted)
      let place = positionOf(after)
      if (after === undefined && tail !== undefined) {
        place = { after: getExtent(deps.logDb, log).last }
        const asked = { ...filter, before: place.after + 1, limit: tail, maxLength: lastLength }
        const lines = await listLastLines(deps, log, asked)
        if (lines.length > 0) yield itemOf(new LogBatch(lines))
      }
      const lines = followLog(deps, log, { ...filter, ...place, signal })
      for await (const event of merged<LogNote | Event>([lines, states(signal)])) {
        if (event instanceof LogBatch) yield itemOf(event)
        else if (event instanceof LogNote) {
          yield event
          if (event.about.done) return
        }
      }
    },
  }

  async function find({ after, before, limit, maxLength, ...wanted }: LogFound): Promise<LogPage> {
    if (limit === 0) return noLines
    if (before === undefined || before === end) await deps.logs.refresh(log)
    const asked = { ...filterOf(wanted), limit, maxLength }
    if (before !== undefined) {
      const { lines, previous } = await findLastLines(deps, log, { ...asked, before })
      return { lines: lines.map(lineOf), previous, next: null }
    }
    const { lines, next } = await findLines(deps, log, { ...asked, ...positionOf(after) })
    return { lines: lines.map(lineOf), previous: null, next }
  }

  /** Reports a removal only after the last lines are stored. */
  async function* states(signal: AbortSignal): AsyncGenerator<LogNote> {
    let told: string | undefined
    for await (const seen of deps.observed.follow(id, signal)) {
      if (seen === null) {
        await sleepUpTo(lastLines, signal)
        return yield endNote('removed')
      }
      const state = seen === 'away' ? seen : seen.state
      if (state !== told) yield new LogNote({ state })
      told = state
    }
  }
}

type Event = LogBatch | { status: string }

/** The id of a stored line is its time in milliseconds and its number: several lines can share a time. */
function positionOf(after: string | undefined) {
  if (after === undefined) return { after: 0 }
  const [, sequence] = /^(?:.*\.\d{3}0{6}Z\/)?(\d+)$/.exec(after) ?? []
  if (sequence) return { after: Number(sequence) }
  return { after: 0, since: Date.parse(timestampOf(after)) }
}

const idOf = ({ time, sequence }: Pick<KeptLine, 'time' | 'sequence'>) =>
  `${new Date(time).toISOString().replace('Z', '000000Z')}/${sequence}`

const lineOf = ({ sequence, time, stream, text }: KeptLine): Line => ({
  id: idOf({ time, sequence }),
  sequence,
  timestamp: new Date(time).toISOString(),
  stream,
  text,
})

/** Each format keeps the same function, so that a batch is rendered once for all watchers. */
const keptRendering: Record<LineFormat, (line: KeptLine) => string> = {
  html: lineHtml,
  json: (line) => rendering.json(lineOf(line)),
}

const itemOf = (batch: LogBatch): LogItem => ({
  events: (format) => batch.encoded(keptRendering[format], idOf),
})
