import type { Context } from 'hono'
import { journal } from '../platform/journal.ts'
import type { Env } from './factory.ts'
import { sessionCheck } from './streams.ts'
import type { Streams } from './streams.ts'

/** Milliseconds without data after which a comment line keeps proxies from closing a stream. */
const heartbeat = 15_000

const headers = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
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
export function sse<Event = string | Uint8Array>(
  c: Context<Env>,
  {
    streams,
    events,
    render = (event) => event as string | Uint8Array,
  }: {
    streams: Streams
    events: (signal: AbortSignal) => AsyncIterable<Event>
    /** Converts events to the wire format, if they aren't yet. */
    render?: (event: Event) => string | Uint8Array
  },
) {
  if (c.req.method === 'HEAD') return c.body(null, 200, headers)
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
        controller.enqueue(encoder.encode(': open\n\n')) // sends the headers at once
        stopped.addEventListener('abort', close, { once: true, signal: ended.signal })
        clock = setInterval(() => tick(controller), sessionCheck)
      },
      async pull(controller) {
        try {
          const { done, value } = await iterator.next()
          if (ended.signal.aborted) return
          if (done) return end(controller)
          quiet = 0
          const bytes = render(value)
          controller.enqueue(typeof bytes === 'string' ? encoder.encode(bytes) : bytes)
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
  return c.body(body, 200, headers)

  /** Also runs for a client that doesn't read: its stream ends with its session. */
  function tick(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (!isAllowed()) return end(controller)
    quiet += sessionCheck
    if (quiet < heartbeat || controller.desiredSize! <= 0) return
    quiet = 0
    controller.enqueue(encoder.encode(': keep-alive\n\n'))
  }

  function end(controller: ReadableStreamDefaultController<Uint8Array>) {
    if (ended.signal.aborted) return
    release()
    if (streams.shutdown.aborted) controller.enqueue(encoder.encode('retry: 1000\n\n'))
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
