import type { Context } from 'hono'
import { journal } from '../journal.ts'
import type { Env } from './factory.ts'
import type { Streams } from './streams.ts'
import { within } from './within.ts'

/** Milliseconds between comment lines; also how soon a stream of an ended session ends. */
const heartbeat = 15_000
const sessionCheck = 4_000

/** One event in the wire format. Every line of the data gets its own field, so that no text breaks out of it. */
export function sseEvent({ id, event, data }: { id?: number | string; event?: string; data: string }) {
  const head = (id === undefined ? '' : `id: ${id}\n`) + (event ? `event: ${event}\n` : '')
  return `${head}data: ${data.replace(/\r\n|\r|\n/g, '\ndata: ')}\n\n`
}

/**
 * Streams events, already in the wire format, until they end, the client leaves, its session ends or
 * Davit stops. The client's socket pulls: one that does not read costs a single chunk of memory.
 */
export function sse(
  c: Context<Env>,
  {
    streams,
    isAllowed,
    events,
  }: {
    streams: Streams
    /** Asked while the stream is open; false ends it. */
    isAllowed: () => boolean
    events: (signal: AbortSignal) => AsyncIterable<string | Uint8Array>
  },
) {
  const leave = streams.enter(c.var.user!.id)
  c.env?.server?.timeout(c.req.raw, 0)
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, c.req.raw.signal, streams.shutdown])
  const chunks = framed(events(signal), { streams, isAllowed })
  const encoder = new TextEncoder()

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await chunks.next()
          if (!done)
            return controller.enqueue(typeof value === 'string' ? encoder.encode(value) : value)
        } catch (error) {
          if (!signal.aborted)
            journal.error('stream failed', error, { requestId: c.var.requestId, path: c.req.path })
        }
        end()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 1 },
  )
  return c.body(body, 200, {
    'Content-Type': 'text/event-stream; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  })

  function end() {
    leave()
    gone.abort()
  }
}

/** The events, with a comment line in every quiet while, and the farewell that makes clients reconnect. */
async function* framed(
  events: AsyncIterable<string | Uint8Array>,
  { streams, isAllowed }: { streams: Streams; isAllowed: () => boolean },
) {
  const iterator = events[Symbol.asyncIterator]()
  let next = iterator.next()
  let quiet = 0
  yield ': open\n\n' // headers reach the client at once
  while (true) {
    const result = await within(sessionCheck, next)
    if (!isAllowed()) return
    if (result === null) {
      quiet += sessionCheck
      if (quiet + sessionCheck <= heartbeat) continue
      yield ': keep-alive\n\n'
    } else if (result.done) {
      break
    } else {
      yield result.value
      next = iterator.next()
    }
    quiet = 0
  }
  if (streams.shutdown.aborted) yield 'retry: 1000\n\n'
}
