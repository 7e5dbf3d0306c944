import type { Context } from 'hono'
import { pause } from '../platform/pause.ts'

/** A line of a file; the time is in milliseconds since 1970. */
export const datedText = ({ time, text }: { time: number; text: string }) =>
  `${new Date(time).toISOString()} ${text}\n`

type Pieces = AsyncGenerator<string> | Generator<string>

/** Answers with a text file, made in pieces as the client takes it. */
export const textFile = (
  c: Context,
  {
    name,
    ...made
  }: {
    name: string
    pieces: Pieces
    /** Called when the client leaves before the end. */
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

/** Answers with a text that is made as the client takes it: other work has its turn between the pieces. */
export function textInPieces(
  c: Context,
  {
    pieces,
    headers,
    stop = () => {},
  }: { pieces: Pieces; headers: Record<string, string>; stop?: () => void },
) {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        await pause() // a reader that is quick would leave no one else a turn
        const { done, value } = await pieces.next()
        if (done) controller.close()
        else controller.enqueue(encoder.encode(value))
      },
      cancel: stop,
    },
    { highWaterMark: 1 },
  )
  return c.body(body, 200, headers)
}
