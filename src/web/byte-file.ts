import { once } from 'node:events'
import { PassThrough, Readable } from 'node:stream'
import type { Writable } from 'node:stream'
import type { Context } from 'hono'
import type { Env } from './factory.ts'
import { headOfStream } from './head.ts'
import type { Streams } from './streams.ts'

type ByteFile = {
  name: string
  streams: Streams
  /** Writes it with backpressure, without ending the stream. */
  write: (to: Writable, signal: AbortSignal) => Promise<void>
}

/**
 * Responds with a file once its first bytes are there; throws when there are none. A failure after that breaks the
 * connection off, so that no one takes half a file for a whole one. It counts as a live stream of the user, and
 * ends with their login.
 */
export async function byteFile(c: Context<Env>, { name, streams, write }: ByteFile) {
  const { user, isLoginAlive: isAllowed } = c.var
  const over = new AbortController()
  const leave = streams.enter(user!.id, { isAllowed, end: () => over.abort() })
  c.env?.server?.timeout(c.req.raw, 0)
  const signal = AbortSignal.any([c.req.raw.signal, streams.shutdown, over.signal])
  const through = new PassThrough()
  const isBegun = once(through, 'readable')
  isBegun.catch(() => {}) // the writer’s failure is the reason
  const done = write(through, signal)
    .then(
      () => void through.end(),
      (error: Error) => {
        through.destroy(error)
        throw error
      },
    )
    .finally(leave)
  done.catch(() => {})
  through.on('close', () => over.abort())
  await Promise.race([isBegun, done])
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${name.replace(/[^\w.-]+/g, '-')}"`,
    'X-Accel-Buffering': 'no',
  }
  if (c.req.method === 'HEAD') {
    through.destroy()
    await done.catch(() => {}) // it was broken off
    return headOfStream(c, 200, headers)
  }
  return c.body(Readable.toWeb(through) as ReadableStream<Uint8Array>, 200, headers)
}
