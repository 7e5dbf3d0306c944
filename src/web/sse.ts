import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { journal } from '../platform/journal.ts'
import type { Env } from './factory.ts'
import { headOfStream } from './head.ts'
import { sessionCheck } from './streams.ts'
import type { Streams } from './streams.ts'

/** Milliseconds without data after which proxies could close a stream. */
const heartbeat = 15_000

type Wire = {
  headers: Record<string, string>
  /** Sends the headers at once. */
  open: string
  /** Keeps proxies from closing the stream while it has no data. */
  quiet: string
  /** The last words when Davit stops. */
  stop: () => string
}

const eventStream: Wire = {
  headers: {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  },
  open: ': open\n\n',
  quiet: ': keep-alive\n\n',
  stop: () => 'retry: 1000\n\n',
}

/** An event in the wire format. Each line of the data gets its own field, so that no text injects events. */
export function sseEvent({
  id,
  event,
  data,
}: {
  id?: number | string
  event?: string
  data: string
}) {
  const head = (id === undefined ? '' : `id: ${id}\n`) + (event ? `event: ${event}\n` : '')
  return `${head}data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}

/**
 * Streams events until they end, the client disconnects, its session ends or Davit stops. With backpressure:
 * a client that doesn't read costs a single chunk of memory.
 */
export const sse = (c: Context<Env>, source: Source) => stream(c, source, { wire: eventStream })

/**
 * Responds at once, and with JSON as soon as there is some: white space before it keeps proxies from closing
 * the connection. `now` is sent instead when Davit stops.
 */
export function laterJson(
  c: Context,
  {
    streams,
    status,
    later,
    now,
  }: {
    streams: Streams
    status: ContentfulStatusCode
    later: (signal: AbortSignal) => Promise<unknown>
    now: () => unknown
  },
) {
  const wire: Wire = {
    headers: {
      'Content-Type': 'application/json',
      'Cache-Control': 'no-store, no-transform',
      'X-Accel-Buffering': 'no',
    },
    open: '\n',
    quiet: '\n',
    stop: () => JSON.stringify(now()),
  }
  async function* events(signal: AbortSignal) {
    yield JSON.stringify(await later(signal))
  }
  return stream(c as Context<Env>, { streams, events }, { wire, status })
}

type Source = {
  streams: Streams
  /** In the wire format. */
  events: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>
}

function stream(
  c: Context<Env>,
  { streams, events }: Source,
  { wire, status = 200 }: { wire: Wire; status?: ContentfulStatusCode },
) {
  const { headers } = wire
  if (c.req.method === 'HEAD') return headOfStream(c, status, headers)
  let close = () => {}
  const { user, isLoginAlive: isAllowed } = c.var
  const leave = streams.enter(user!.id, { isAllowed, end: () => close() })
  c.env?.server?.timeout(c.req.raw, 0)
  const ended = new AbortController()
  const stopped = AbortSignal.any([c.req.raw.signal, streams.shutdown])
  const iterator = events(ended.signal)[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let clock: ReturnType<typeof setInterval> | undefined
  let quiet = 0

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        close = () => end(controller)
        if (stopped.aborted) return close()
        controller.enqueue(encoder.encode(wire.open))
        stopped.addEventListener('abort', close, { once: true, signal: ended.signal })
        clock = setInterval(() => tick(controller), sessionCheck)
      },
      async pull(controller) {
        try {
          const { done, value } = await iterator.next()
          if (ended.signal.aborted) return
          if (done) return end(controller)
          quiet = 0
          controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        } catch (error) {
          if (ended.signal.aborted) return
          journal.error('stream failed', error, { requestId: c.var.requestId, path: c.req.path })
          end(controller)
        }
      },
      cancel: release,
    },
    { highWaterMark: 1 },
  )
  return c.body(body, status, headers)

  /** Also runs for a client that doesn't read: its stream ends with its session. */
  function tick(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (!isAllowed()) return end(controller)
    quiet += sessionCheck
    if (quiet < heartbeat || controller.desiredSize! <= 0) return
    quiet = 0
    controller.enqueue(encoder.encode(wire.quiet))
  }

  function end(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (ended.signal.aborted) return
    release()
    if (streams.shutdown.aborted) controller.enqueue(encoder.encode(wire.stop()))
    controller.close()
  }

  function release() {
    clearInterval(clock)
    leave()
    ended.abort()
  }
}

/** An invalid id is ignored, so that a client that keeps sending it doesn't fail forever. */
export function lastEventId(c: Context) {
  const id = Number(c.req.header('Last-Event-ID') ?? 0)
  return Number.isSafeInteger(id) && id > 0 ? id : 0
}
