import type { Context } from 'hono'
import { AppError } from '../errors.ts'

/** Bytes of a delivery; GitHub sends none that is larger. */
const maxBody = 25 * 1024 * 1024

/** Bytes that the bodies of all deliveries on their way in may take at once. */
const maxHeld = 64 * 1024 * 1024

/** Reads bodies as the bytes they are, within bounds for each and for all that come at the same time. */
export class BodyReader {
  #held = 0

  /** The body, or 413 as soon as it is too large, whatever length was announced. */
  async read(c: Context, { signal }: { signal: AbortSignal }): Promise<Buffer> {
    const announced = Number(c.req.header('Content-Length') ?? 0)
    if (announced > maxBody) throw tooLarge()
    const chunks: Uint8Array[] = []
    let size = 0
    const reader = c.req.raw.body?.getReader()
    const stop = () => void reader?.cancel().catch(() => {})
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (reader) {
        const { done, value } = await reader.read()
        if (signal.aborted) throw tooSlow()
        if (done) break
        size += value.length
        this.#held += value.length
        if (size > maxBody) throw tooLarge()
        if (this.#held > maxHeld) throw tooBusy()
        chunks.push(value)
      }
      return Buffer.concat(chunks)
    } finally {
      this.#held -= size
      signal.removeEventListener('abort', stop)
      stop()
    }
  }
}

const tooLarge = () => new AppError('too_large', 'The body is larger than 25 MiB.')

const tooSlow = () => new AppError('timeout', 'The body took too long to arrive.')

const tooBusy = () =>
  new AppError('unavailable', 'Too much is being received at once. Send this again.', {
    retryAfter: 10,
  })
