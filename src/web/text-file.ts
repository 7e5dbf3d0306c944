import type { Context } from 'hono'
import { pause } from '../platform/pause.ts'
import { encodingOf } from './compress.ts'
import { headOfStream } from './head.ts'

/** A line of a file; the time is in milliseconds since 1970. */
export const datedText = ({ time, text }: { time: number; text: string }) =>
  `${new Date(time).toISOString()} ${text}\n`

/** Seconds for the next piece of a file, and for its reader to take one. */
const idleSeconds = 60

type Pieces = Pick<AsyncIterator<string> | Iterator<string>, 'next'>

/** Responds with a text file, generated in chunks with backpressure. */
export const textFile = (
  c: Context,
  {
    name,
    ...made
  }: {
    name: string
    pieces: Pieces
    /** Called when the client disconnects early. */
    stop?: () => void
  },
) =>
  textInPieces(c, {
    ...made,
    headers: {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name.replace(/[^\w.-]+/g, '-')}"`,
      'X-Accel-Buffering': 'no',
    },
  })

/**
 * Responds with a text generated with backpressure: other work runs between the chunks. It is compressed
 * unless it is a file, whose reader may be faster than that.
 */
export function textInPieces(
  c: Context,
  {
    pieces,
    headers,
    stop = () => {},
  }: { pieces: Pieces; headers: Record<string, string>; stop?: () => void },
) {
  const isFile = headers['Content-Disposition'] !== undefined
  const encoding = isFile ? null : encodingOf(c)
  if (encoding) c.header('Content-Encoding', encoding)
  if (c.req.method === 'HEAD') {
    stop()
    return headOfStream(c, 200, headers)
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await pause() // a fast reader would block other work
        const { done, value } = await pieces.next()
        if (isFile) c.env?.server?.timeout(c.req.raw, idleSeconds) // an empty piece sends nothing
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: stop,
    },
    { highWaterMark: 1 },
  )
  const sent: typeof body = encoding ? body.pipeThrough(new CompressionStream(encoding)) : body
  return c.body(sent, 200, headers)
}
