import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Config } from '../config.ts'
import type { LogDb } from '../db/index.ts'
import { clientOf } from '../web/client.ts'
import type { Env } from '../web/factory.ts'
import { show } from '../web/respond.tsx'
import { lastEventId, sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { datedText, textFile } from '../web/text-file.ts'
import { followLog } from './follow-log.ts'
import type { Statuses } from './follow-log.ts'
import type { JobLogQuery, LogQuery, LogStreamQuery } from './forms.ts'
import { linesAsHtml, linesAsJson } from './lines-answer.ts'
import { LogBatch } from './log-batch.ts'
import { lineHtml, lineJson } from './log-line.tsx'
import type { Logs } from './logs.ts'
import type { Masks } from './masks.ts'
import { OutputPage } from './output-page.tsx'
import { countLines, eachLines, findLines, listLastLines } from './read-log.ts'
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
    more = () => ({}),
  }: { log: LogKey; name: string; asked: LogQuery; more?: () => object | Promise<object> },
) {
  const { limit: _, after, cursor = after, before: __, ...filter } = asked
  if (download !== undefined)
    return textFile(c, { name, pieces: asText(eachLines(deps, log, { ...filter, after: cursor })) })
  const { lines, next } = await linesFor(deps, log, asked)
  c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
  if (clientOf(c) === 'partial') return linesAsHtml(c, { lines, html: lineHtml })
  const nextCursor = next === null ? null : String(next)
  return linesAsJson(c, { lines, json: lineJson, nextCursor, ...(await more()) })
}

async function linesFor(
  deps: Reading,
  log: LogKey,
  { after, cursor = after, before, limit, ...filter }: LogQuery,
) {
  if (before === undefined) return findLines(deps, log, { ...filter, limit, after: cursor })
  return { lines: await listLastLines(deps, log, { before, limit }), next: null }
}

async function* asText(pieces: ReturnType<typeof eachLines>) {
  for await (const { lines } of pieces) yield lines.map(datedText).join('')
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
  }: { log: LogKey; asked: LogStreamQuery; statuses?: Statuses<Status> | undefined },
) {
  // one that was not given out yet would hide the lines up to it
  const after = Math.min(Math.max(asked.after, lastEventId(c)), getExtent(deps.logDb, log).last)
  return sse(c, {
    streams: deps.streams,
    events: (signal) => followLog(deps, log, { after, signal, statuses }),
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
  { config, ...deps }: Reading & { config: Config },
  {
    source,
    asked,
    title,
    frame,
  }: {
    source: { id: string; name: string }
    asked: LogQuery
    title: string
    /** What the page stands in. */
    frame: (view: JSX.Element) => JSX.Element
  },
) {
  const log = outputOf(source)
  const extent = getExtent(deps.logDb, log)
  if (clientOf(c) === 'browser' && asked.download === undefined) {
    const lines = await listLastLines(deps, log, tail)
    const shown = { path: c.req.path, name: source.name, extent, lines, config }
    return show(c, { title, page: () => frame(<OutputPage {...shown} />) })
  }
  const { first, last, since } = extent
  const more = () => ({ first, last, since: since === null ? null : new Date(since).toISOString() })
  return answerLog(c, deps, { log, name: `${source.name}.log`, asked, more })
}

/** The log of what the containers of an environment or service wrote. */
export const outputOf = ({ id }: { id: string }): LogKey => ({ sourceId: id, logId: '' })
