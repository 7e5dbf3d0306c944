import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import { clientOf } from '../web/client.ts'
import type { Env } from '../web/factory.ts'
import { isLiveRequest } from '../web/live.tsx'
import { withChanges } from '../web/live-stream.ts'
import type { Liveness } from '../web/live.tsx'
import { show } from '../web/respond.tsx'
import type { Look } from '../web/status-badge.tsx'
import { lastEventId, sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { datedText, textFile } from '../web/text-file.ts'
import { followLog } from './follow-log.ts'
import type { Statuses } from './follow-log.ts'
import type { JobLogQuery, OutputQuery, OutputStreamQuery } from './forms.ts'
import { cursorsOf, linesAsHtml, linesAsJson } from './lines-answer.ts'
import { LogBatch } from './log-batch.ts'
import { accessProcess, lineHtml, lineJson, processLabel } from './log-line.tsx'
import type { Line } from './log-line.tsx'
import type { Logs } from './logs.ts'
import { OutputPage } from './output-page.tsx'
import { choicesOf } from './filter-choice.tsx'
import { hasRequests, listProcesses } from './process-store.ts'
import { countLines, eachLines, findLastLines, findLines, tail } from './read-log.ts'
import type { Reading } from './read-log.ts'
import { getExtent } from './store.ts'
import type { LogKey } from './store.ts'

/** Groups the lines of a log for those who follow it. */
export type LogParts = {
  take: (lines: Line[]) => void
  /** Call it when the state of the log's subject may have changed. */
  tell: () => void
  /** Returns the groups that changed since the last call; null when none did. */
  takeChanged: () => object | null
}

/** A reader continues after the line `last`. With `isAgain` it reconnects, having had earlier lines. */
type Beginning = { last: number; isAgain: boolean }

export type StreamDeps = Reading & { logs: Logs; streams: Streams; changes: ChangeFeed }

/** Responds with rows for the viewer, with JSON and `more`, or with all lines as a text file. */
export async function answerLog(
  c: Context,
  deps: Reading,
  {
    log,
    name,
    asked: { download, ...asked },
    text = datedText,
    more = () => ({}),
  }: {
    log: LogKey
    name: string
    asked: OutputQuery
    /** Formats a line of the file. */
    text?: (line: Line) => string
    more?: () => object | Promise<object>
  },
) {
  const { limit: _, after, cursor = after, before: __, ...filter } = asked
  if (download !== undefined) {
    const found = eachLines(deps, log, { ...filter, after: cursor })
    return textFile(c, { name, pieces: asText(found, text) })
  }
  const { lines, ...places } = await linesFor(deps, log, asked)
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
  linkOn(c, places)
  if (clientOf(c) === 'partial') return linesAsHtml(c, lines)
  return linesAsJson(c, { lines, json: lineJson, ...cursorsOf(places), ...(await more()) })
}

async function linesFor(
  deps: Reading,
  log: LogKey,
  { after, cursor = after, before, limit, ...filter }: OutputQuery,
) {
  if (before !== undefined)
    return { ...(await findLastLines(deps, log, { ...filter, before, limit })), next: null }
  return { ...(await findLines(deps, log, { ...filter, limit, after: cursor })), previous: null }
}

/** Sets Link headers for the same query with earlier and later lines. */
export function linkOn(
  c: Context,
  { previous, next }: { previous: number | null; next: number | null },
) {
  if (previous !== null) c.header('Link', linkTo(c, 'prev', { before: previous }))
  if (next !== null) c.header('Link', linkTo(c, 'next', { after: next }))
}

/** The same query for the lines before or after a sequence number. */
function linkTo(c: Context, rel: 'prev' | 'next', place: Record<string, number>) {
  const { pathname, searchParams } = new URL(c.req.url)
  for (const name of ['before', 'after', 'cursor']) searchParams.delete(name)
  for (const [name, sequence] of Object.entries(place)) searchParams.set(name, String(sequence))
  return `<${pathname}?${searchParams}>; rel="${rel}"`
}

async function* asText(pieces: ReturnType<typeof eachLines>, text: (line: Line) => string) {
  for await (const { lines } of pieces) yield lines.map(text).join('')
}

type Following<Status extends string> = {
  log: LogKey
  statuses?: Statuses<Status> | undefined
  /** Groups the lines as the log grows. */
  parts?: ((from: Beginning) => Promise<LogParts>) | undefined
  /** True when its address leads to another log later: ids name the log, so that no reader goes on in the wrong one. */
  isNamed?: boolean | undefined
}

/**
 * The log of a deployment or job. Requests for JSON, for a fragment by the viewer, for the hits of a search
 * with their count, for lines before one or up to a time, and for a file get a page; all others follow the log to
 * its end.
 */
export function answerJobLog<Status extends string>(
  c: Context<Env>,
  deps: StreamDeps,
  {
    name,
    asked: { format, live, ...asked },
    ...following
  }: Following<Status> & { name: string; asked: JobLogQuery },
) {
  const { log } = following
  const { search, download, before, until, after, cursor = after, limit: _, ...filter } = asked
  const isPage = [search, download, before, until].some((one) => one !== undefined)
  if (!isPage && asksForStream(c, { format }))
    return streamLog(c, deps, { ...following, asked: { ...filter, after: cursor, format, live } })
  const searched = { ...filter, search, until }
  const more = async () => (search ? { found: await countLines(deps, log, searched) } : {})
  return answerLog(c, deps, { log, name, asked, more })
}

/** True unless JSON or a fragment is requested. */
export const asksForStream = (c: Context, { format }: { format?: string | undefined }) =>
  format !== undefined ||
  c.req.header('Accept')?.includes('text/event-stream') === true ||
  clientOf(c) === 'browser'

/** Streams the lines after the requested one, new lines, and changes of status between them. */
export function streamLog<Status extends string = never>(
  c: Context<Env>,
  deps: StreamDeps,
  {
    log,
    asked,
    statuses,
    parts,
    isNamed = false,
  }: Following<Status> & { asked: OutputStreamQuery },
) {
  const had = lastRead(c, log, { isNamed })
  const wanted = isNamed && had.isAgain ? had.last : Math.max(asked.after, had.last)
  // A sequence number that doesn't exist yet would hide the lines before it.
  const after = Math.min(wanted, getExtent(deps.logDb, log).last)
  const render = renderings[asked.format ?? 'html']
  const idOf = ({ sequence }: Line) => (isNamed ? `${log.logId}:${sequence}` : sequence)
  async function* events(signal: AbortSignal) {
    const { process, level, stream, since } = asked
    const isWhole = [level, stream, since].every((filter) => filter === undefined)
    const from = { last: after, isAgain: had.isAgain }
    const grouped = asked.live && isWhole ? await parts?.(from) : undefined // only for pages
    function* changedGroups() {
      const changed = grouped?.takeChanged()
      if (changed) yield sseEvent({ event: 'groups', data: JSON.stringify(changed) })
    }
    yield* changedGroups()
    const filter = { process, level, stream, since }
    for await (const event of followLog(deps, log, { ...filter, after, signal, statuses })) {
      if (event instanceof LogBatch) {
        yield event.encoded(render, idOf)
        grouped?.take(event.lines)
      } else grouped?.tell()
      yield* changedGroups()
      if (!(event instanceof LogBatch)) yield statusEvent(event.status)
    }
  }
  const statusEvent = (data: Status) =>
    sseEvent({ event: 'status', data }) +
    (statuses?.isEnd(data) ? sseEvent({ event: 'done', data }) : '')
  const since = had.isAgain ? undefined : asked.live
  return sse(c, {
    streams: deps.streams,
    events: (signal) =>
      asked.live ? withChanges(deps.changes, events(signal), { since, signal }) : events(signal),
  })
}

/** Functions of their own, by which a batch keeps what it encoded: others give the same lines other ids. */
const renderings = {
  html: (line: Line) => lineHtml(line),
  json: (line: Line) => JSON.stringify(lineJson(line)),
}

/** The last line that a reader had of this log; `isAgain` is also true for one who had lines of another. */
function lastRead(c: Context, { logId }: LogKey, { isNamed }: { isNamed: boolean }) {
  const plain = lastEventId(c) // it names no log: this one's, as with `after` alone
  if (!isNamed || plain > 0) return { last: plain, isAgain: plain > 0 }
  const [, named, sequence] =
    /^([\w-]+):(\d{1,15})$/.exec(c.req.header('Last-Event-ID') ?? '') ?? []
  return { last: named === logId ? Number(sequence) : 0, isAgain: named !== undefined }
}

/** The output of the containers of an environment or service, as a page or in the requested format. */
export async function answerOutput(
  c: Context,
  { config, ...deps }: Reading & { config: Config; db: Db; logs: Logs },
  {
    source,
    asked,
    title,
    frame,
    drains,
    ...follows
  }: {
    source: { id: string; name: string }
    asked: OutputQuery
    title: string
    /** The state of the environment or service. */
    state?: Look
    /** Renders the page around the log. */
    frame: (view: JSX.Element) => JSX.Element
    /** The path of what sends the lines elsewhere. */
    drains?: string
    /** Updates the live parts of the frame; the log updates itself. */
    live?: Liveness
  },
) {
  if (isLiveRequest(c)) return show(c, { title, page: () => frame(<></>), ...follows })
  const log = outputOf(source)
  await deps.logs.refresh(log)
  const extent = getExtent(deps.logDb, log)
  const processesWith = (lines: Line[]) => {
    const found = listProcesses(deps.db, { sourceId: source.id, since: extent.since, lines })
    if (!hasRequests(deps.logDb, source.id)) return found
    const own = found.filter(({ process }) => process !== accessProcess)
    return [...own, { process: accessProcess, replicas: 1 }]
  }
  if (clientOf(c) === 'browser' && asked.download === undefined) {
    const { process, level, search, before } = asked
    const chosen = { process, level, search, before }
    const found = await findLastLines(deps, log, { ...tail, ...chosen })
    const choices = choicesOf(processesWith(found.lines))
    const of = { path: c.req.path, name: source.name, drains }
    const shown = { ...of, extent, ...found, config, choices, chosen }
    return show(c, { title, page: () => frame(<OutputPage {...shown} />), ...follows })
  }
  const { first, last, since } = extent
  const processes = processesWith([])
  const text = choicesOf(processes).length > 1 ? textWithProcess : datedText
  const more = () => ({
    first,
    last,
    since: since === null ? null : new Date(since).toISOString(),
    processes,
  })
  return answerLog(c, deps, { log, name: `${source.name}.log`, asked, text, more })
}

function textWithProcess({ text, ...line }: Line) {
  const who = [line.process && processLabel(line), line.server].filter(Boolean).join(' on ')
  return datedText({ ...line, text: who ? `${who} | ${text}` : text })
}

/** The log of the containers' output. */
export const outputOf = ({ id }: { id: string }): LogKey => ({ sourceId: id, logId: '' })
