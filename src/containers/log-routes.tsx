import type { Context } from 'hono'
import type { Masks } from '../logs/masks.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { linesAsHtml, linesAsJson } from '../logs/lines-answer.ts'
import { query } from '../web/query.ts'
import { sse } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { findContainer } from './find.ts'
import type { FindDeps } from './find.ts'
import type { LiveLogs } from './live-logs.ts'
import { LogBatch } from './log-batch.ts'
import type { LineFormat } from './log-batch.ts'
import { downloadLog } from './log-download.ts'
import { logFilter } from './log-filter.ts'
import { followContainerLog, readUntil } from './log-follow.ts'
import { containerLogQuery } from './log-forms.ts'
import type { ContainerLogQuery } from './log-forms.ts'
import { lineHtml, lineId, lineJson } from './log-line.ts'
import type { LogSource } from './log-read.ts'
import { sourceOf } from './log-source.ts'
import { readTail } from './log-tail.ts'

/** Lines to begin with, unless the request says otherwise. */
const defaultTail = 500

type RouteDeps = FindDeps & { masks: Masks; liveLogs: LiveLogs; streams: Streams }

/** The log of a container: a stream by default, else its last lines, or a text file. */
export const containerLogRoutes = (deps: RouteDeps) =>
  factory.createApp().get('/containers/:id/logs', query(containerLogQuery), async (c) => {
    const { signal } = c.req.raw
    const id = c.req.param('id')
    const source = sourceOf(deps, await findContainer(deps, { id, user: userOf(c), signal }))
    const wanted = c.req.valid('query')
    if (wanted.download !== undefined) return downloadLog(c, deps, { source, wanted })
    if (wantsStream(c, wanted)) return stream(c, deps, { source, wanted })
    const tail = wanted.tail ?? (wanted.since ? maxTail : defaultTail)
    const lines = await readTail(deps, source, {
      ...wanted,
      tail,
      passes: logFilter(wanted),
      signal,
    })
    c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
    if (clientOf(c) === 'program') return linesAsJson(c, { lines, json: lineJson })
    return linesAsHtml(c, { lines, html: (line) => lineHtml(line, wanted) })
  })

const maxTail = 10_000

/** Lines are asked for as JSON or as a fragment; everything else follows the log. */
function wantsStream(c: Context, { format }: ContainerLogQuery) {
  if (format !== undefined || c.req.header('Accept')?.includes('text/event-stream')) return true
  return clientOf(c) === 'browser'
}

function stream(
  c: Context,
  deps: RouteDeps,
  { source, wanted }: { source: LogSource; wanted: ContainerLogQuery },
) {
  const { tail, since, until, timestamps } = wanted
  const after = lastLineId(c) ?? wanted.after
  const begin = tail ?? (since || after ? undefined : defaultTail)
  const format: LineFormat = wanted.format === 'json' ? 'json' : timestamps ? 'html' : 'bare'
  const passes = logFilter(wanted)
  return sse(c, {
    streams: deps.streams,
    events: async function* (signal) {
      const asked = { tail: begin, since, after, signal }
      const events = until
        ? readUntil(deps, source, { ...asked, until })
        : followContainerLog(deps, source, asked)
      for await (const event of events) {
        const shown = passes && event instanceof LogBatch ? event.only(passes) : event
        if (shown) yield shown.events(format)
      }
    },
  })
}

/** A strange id is taken as none, so that a client that keeps sending it does not fail for ever. */
function lastLineId(c: Context) {
  const id = c.req.header('Last-Event-ID') ?? ''
  return lineId.test(id) ? id : undefined
}
