import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Config } from '../config.ts'
import type { Db, LogDb } from '../db/index.ts'
import { clientOf } from '../web/client.ts'
import type { Env } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { lastEventId, sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { datedText, textFile } from '../web/text-file.ts'
import { followLog } from './follow-log.ts'
import type { Statuses } from './follow-log.ts'
import type { JobLogQuery, OutputQuery, OutputStreamQuery } from './forms.ts'
import { linesAsHtml, linesAsJson } from './lines-answer.ts'
import { LogBatch } from './log-batch.ts'
import { lineHtml, lineJson, processLabel } from './log-line.tsx'
import type { Line } from './log-line.tsx'
import type { Logs } from './logs.ts'
import type { Masks } from './masks.ts'
import { OutputPage } from './output-page.tsx'
import { choicesOf } from './process-choice.tsx'
import { listProcesses } from './process-store.ts'
import { countLines, eachLines, findLastLines, findLines, listLastLines } from './read-log.ts'
import { getExtent } from './store.ts'
import type { LogKey } from './store.ts'

/** What a page itself carries; its viewer asks for the rest. */
export const tail = { limit: 200, maxLength: 64 * 1024 }

type Reading = { logDb: LogDb; masks: Masks }
export type StreamDeps = Reading & { logs: Logs; streams: Streams }

/** Lines of a log: rows for the viewer, JSON with what else there is to say, or all of them as text. */
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
    /** A line of the file. */
    text?: (line: Line) => string
    more?: () => object | Promise<object>
  },
) {
  const { limit: _, after, cursor = after, before: __, ...filter } = asked
  if (download !== undefined) {
    const found = eachLines(deps, log, { ...filter, after: cursor })
    return textFile(c, { name, pieces: asText(found, text) })
  }
  const { lines, next, previous } = await linesFor(deps, log, asked)
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
  if (previous !== null) c.header('Link', linkTo(c, 'prev', { before: previous }))
  if (next !== null) c.header('Link', linkTo(c, 'next', { after: next }))
  if (clientOf(c) === 'partial') return linesAsHtml(c, { lines, html: lineHtml })
  const nextCursor = next === null ? null : String(next)
  return linesAsJson(c, { lines, json: lineJson, nextCursor, ...(await more()) })
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

/** The same question about the lines before or after that sequence. */
function linkTo(c: Context, rel: 'prev' | 'next', place: Record<string, number>) {
  const { pathname, searchParams } = new URL(c.req.url)
  for (const name of ['before', 'after', 'cursor']) searchParams.delete(name)
  for (const [name, sequence] of Object.entries(place)) searchParams.set(name, String(sequence))
  return `<${pathname}?${searchParams}>; rel="${rel}"`
}

async function* asText(pieces: ReturnType<typeof eachLines>, text: (line: Line) => string) {
  for await (const { lines } of pieces) yield lines.map(text).join('')
}

/**
 * The log of a deployment or job. Pages are asked for as JSON or, by the viewer, as a fragment, also the
 * hits of a search, with their count, and a file; everything else follows it to its end.
 */
export function answerJobLog<Status extends string>(
  c: Context<Env>,
  deps: StreamDeps,
  {
    log,
    name,
    asked: { format, ...asked },
    statuses,
  }: { log: LogKey; name: string; asked: JobLogQuery; statuses: Statuses<Status> },
) {
  const { search, download } = asked
  const isPage = search !== undefined || download !== undefined
  if (!isPage && asksForStream(c, { format }))
    return streamLog(c, deps, { log, asked: { after: asked.after, format }, statuses })
  const more = async () => (search ? { found: await countLines(deps, log, search) } : {})
  return answerLog(c, deps, { log, name, asked, more })
}

/** Lines are asked for as JSON or as a fragment; everything else follows the log. */
export const asksForStream = (c: Context, { format }: { format?: string | undefined }) =>
  format !== undefined ||
  c.req.header('Accept')?.includes('text/event-stream') === true ||
  clientOf(c) === 'browser'

/** The lines after the one that is asked for, those that are stored from now on, and the statuses between. */
export function streamLog<Status extends string = never>(
  c: Context<Env>,
  deps: StreamDeps,
  {
    log,
    asked,
    statuses,
  }: { log: LogKey; asked: OutputStreamQuery; statuses?: Statuses<Status> | undefined },
) {
  // one that was not given out yet would hide the lines up to it
  const after = Math.min(Math.max(asked.after, lastEventId(c)), getExtent(deps.logDb, log).last)
  return sse(c, {
    streams: deps.streams,
    events: (signal) => followLog(deps, log, { after, signal, statuses, process: asked.process }),
    render(event) {
      if (event instanceof LogBatch) return asked.format === 'json' ? event.json : event.html
      const { status: data } = event
      const done = statuses?.isEnd(data) ? sseEvent({ event: 'done', data }) : ''
      return sseEvent({ event: 'status', data }) + done
    },
  })
}

/** What the containers of an environment or service wrote: a page, or its lines as they are asked for. */
export async function answerOutput(
  c: Context,
  { config, ...deps }: Reading & { config: Config; db: Db },
  {
    source,
    asked,
    title,
    frame,
  }: {
    source: { id: string; name: string }
    asked: OutputQuery
    title: string
    /** What the page stands in. */
    frame: (view: JSX.Element) => JSX.Element
  },
) {
  const log = outputOf(source)
  const extent = getExtent(deps.logDb, log)
  const processesWith = (lines: Line[]) =>
    listProcesses(deps.db, { sourceId: source.id, since: extent.since, lines })
  if (clientOf(c) === 'browser' && asked.download === undefined) {
    const { process: chosen = [] } = asked
    const lines = await listLastLines(deps, log, { ...tail, process: asked.process })
    const choices = choicesOf(processesWith(lines))
    const shown = { path: c.req.path, name: source.name, extent, lines, config, choices, chosen }
    return show(c, { title, page: () => frame(<OutputPage {...shown} />) })
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

const textWithProcess = ({ text, ...line }: Line) =>
  datedText({ ...line, text: line.process ? `${processLabel(line)} | ${text}` : text })

/** The log of what the containers of an environment or service wrote. */
export const outputOf = ({ id }: { id: string }): LogKey => ({ sourceId: id, logId: '' })
