import type { Context } from 'hono'
import type { Env } from '../web/factory.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import { asksForStream, linkOn } from '../logs/answer-log.tsx'
import { cursorsOf, linesAsHtml, linesAsJson } from '../logs/lines-answer.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { withChanges } from '../web/live-stream.ts'
import { query } from '../web/query.ts'
import { sse } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { textFile } from '../web/text-file.ts'
import { userOf } from '../web/user-of.ts'
import { findContainer } from './find.ts'
import type { FindDeps } from './find.ts'
import { containerLogQuery } from './log-forms.ts'
import type { ContainerLogQuery } from './log-forms.ts'
import { isUnreadable } from './engine-log.ts'
import { end, itemOf, lineId, lineJson, shownLine } from './log-line.ts'
import type { Line } from './log-line.ts'
import { endNote } from './log-note.ts'
import { usageEvent } from './usage/panel.tsx'
import type { UsagePoller } from './usage/poller.ts'
import { openLog } from './open-log.ts'
import { lastLength } from './log-source.ts'
import type { LogDeps, LogItem, LogPage, LogSource, LogWanted } from './log-source.ts'

/** Lines sent first, unless the request says otherwise. */
const defaultTail = 500
const maxTail = 10_000

type RouteDeps = FindDeps & LogDeps & { streams: Streams; changes: ChangeFeed; usage: UsagePoller }
type LogRequest = { source: LogSource; wanted: ContainerLogQuery }

/** Responds with a stream by default, or with the last lines, or a text file. */
export const containerLogRoutes = (deps: RouteDeps) =>
  factory.createApp().get('/containers/:id/logs', query(containerLogQuery), async (c) => {
    const { signal } = c.req.raw
    const id = c.req.param('id')
    const look = () => deps.observed.look(id)
    const source = openLog(deps, await findContainer(deps, { id, user: userOf(c), look }))
    const wanted = c.req.valid('query')
    if (wanted.download !== undefined) return download(c, { source, wanted })
    if (asksForStream(c, wanted)) return stream(c, deps, { source, wanted })
    c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
    const { lines, ...places } = await source.find({ ...wanted, ...extentOf(wanted), signal })
    linkOn(c, places)
    if (clientOf(c) === 'partial') return linesAsHtml(c, lines.map(shownLine))
    return linesAsJson(c, { lines, json: lineJson, ...cursorsOf(places) })
  })

/** The lines after or before one, or the last ones: a limit without a line begins at the start of the log. */
function extentOf({ after, before, limit, tail, since }: ContainerLogQuery) {
  if (after !== undefined || before !== undefined || limit !== undefined)
    return { limit: limit ?? defaultTail }
  const last = tail ?? (since === undefined ? defaultTail : maxTail)
  return { before: end, limit: last, maxLength: lastLength }
}

async function download(c: Context, { source, wanted }: LogRequest) {
  const stopped = new AbortController()
  const signal = AbortSignal.any([c.req.raw.signal, stopped.signal])
  const pieces = chosen(source, { ...wanted, signal })
  const first = await pieces.next() // before the headers are sent: an error can still set the status
  return textFile(c, {
    name: `container-${c.req.param('id')!.slice(0, 12)}.log`,
    pieces: texts(),
    stop: () => stopped.abort(),
  })

  async function* texts() {
    if (!first.done) yield textOf(first.value)
    for await (const lines of pieces) yield textOf(lines)
  }
}

const textOf = (lines: Line[]) =>
  lines.map(({ timestamp, text }) => `${timestamp} ${text}\n`).join('')

function stream(c: Context<Env>, deps: RouteDeps, { source, wanted }: LogRequest) {
  const { tail, since, until, format = 'html' } = wanted
  const after = lastLineId(c) ?? wanted.after
  const begin = tail ?? (since === undefined && !after ? defaultTail : undefined)
  const { live } = wanted
  async function* events(signal: AbortSignal) {
    const asked = { ...wanted, tail: begin, after, signal }
    const items = until === undefined ? source.follow(asked) : readUntil(source, asked)
    for await (const item of items) yield item.events(format)
  }
  const seen = lastLineId(c) === undefined ? live : undefined
  const beside = (signal: AbortSignal) => [usageOf(deps, c.req.param('id')!, signal)]
  return sse(c, {
    streams: deps.streams,
    events: (signal) =>
      live
        ? withChanges(deps.changes, events(signal), { since: seen, signal, beside })
        : events(signal),
  })
}

/** For the page that shows log and usage over one connection; the log already reports the removal. */
async function* usageOf({ usage }: RouteDeps, id: string, signal: AbortSignal) {
  for await (const look of usage.follow(id, signal))
    if (look.shown.state !== 'removed') yield usageEvent(look, 'html')
}

/** All lines, or the last ones, or those after one: a line says where to start in place of a tail. */
async function* chosen(source: LogSource, { tail, after, ...wanted }: LogWanted) {
  if (tail !== undefined && after === undefined) yield* lastOf(source, { ...wanted, tail })
  else yield* source.each({ ...wanted, after })
}

/** However long they take to find; an empty batch is a sign of life meanwhile. */
async function* lastOf(source: LogSource, { tail, ...wanted }: LogWanted & { tail: number }) {
  const pages: Line[][] = []
  let [before, left, room]: [number | null, number, number] = [end, tail, lastLength]
  while (before !== null && left > 0 && room > 0) {
    const page: LogPage = await source.find({ ...wanted, before, limit: left, maxLength: room })
    pages.push(page.lines)
    before = page.previous
    left -= page.lines.length
    room -= page.lines.reduce((sum, { text }) => sum + text.length, 0)
    yield []
  }
  yield* pages.reverse()
}

/** Ends at a time, without following new lines. */
async function* readUntil(source: LogSource, wanted: LogWanted): AsyncGenerator<LogItem> {
  try {
    for await (const lines of chosen(source, wanted)) if (lines.length > 0) yield itemOf(lines)
    yield endNote('until')
  } catch (error) {
    if (!isUnreadable(error)) throw error
    yield endNote('unreadable')
  }
}

/** Ignores an invalid id, so that a client that keeps sending it doesn't fail forever. */
function lastLineId(c: Context) {
  const id = c.req.header('Last-Event-ID') ?? ''
  return lineId.test(id) ? id : undefined
}
