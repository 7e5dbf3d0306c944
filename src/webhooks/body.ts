import type { Context } from 'hono'
import { AppError } from '../errors.ts'

/** Bytes of a delivery; GitHub sends none that is larger. */
const maxBody = 25 * 1024 * 1024

/** Bytes that the bodies of all deliveries on their way in may take at once. */
const maxHeld = 64 * 1024 * 1024

/** Reads bodies as the bytes they are, within bounds for each and for all that come at the same time. */
export class BodyReader {
  #held = 0
  #expected = 0

  /** The body, or 413 as soon as it is too large, whatever length was announced. */
  async read(c: Context, { signal }: { signal: AbortSignal }): Promise<Buffer> {
    const announced = lengthOf(c)
    if (announced > maxBody) throw tooLarge()
    const body = new Bytes(announced + this.#expected > maxHeld ? 0 : announced)
    this.#expected += body.expected
    const reader = c.req.raw.body?.getReader()
    const stop = () => void reader?.cancel().catch(() => {})
    signal.addEventListener('abort', stop, { once: true })
    try {
      while (reader) {
        const { done, value } = await reader.read()
        if (signal.aborted) throw tooSlow()
        if (done) break
        this.#held += value.length
        body.add(value)
        if (body.size > maxBody) throw tooLarge()
        if (this.#held > maxHeld) throw tooBusy()
      }
      return body.whole()
    } finally {
      this.#held -= body.size
      this.#expected -= body.expected
      signal.removeEventListener('abort', stop)
      stop()
    }
  }
}

/** Puts what arrives where it will be needed: pieces that are joined in the end take twice the memory. */
class Bytes {
  size = 0
  readonly expected: number
  readonly #place: Buffer
  readonly #more: Uint8Array[] = []

  constructor(expected: number) {
    this.expected = expected
    this.#place = Buffer.allocUnsafeSlow(expected) // costs nothing until it is written to
  }

  add(bytes: Uint8Array) {
    if (this.size + bytes.length <= this.expected) this.#place.set(bytes, this.size)
    else this.#more.push(bytes)
    this.size += bytes.length
  }

  whole() {
    if (this.#more.length === 0) return this.#place.subarray(0, this.size)
    const rest = this.#more.reduce((sum, { length }) => sum + length, 0)
    return Buffer.concat([this.#place.subarray(0, this.size - rest), ...this.#more])
  }
}

function lengthOf(c: Context) {
  const length = c.req.header('Content-Length') ?? ''
  return /^\d+$/.test(length) ? Number(length) : 0
}

const tooLarge = () => new AppError('too_large', 'The body is larger than 25 MiB.')

const tooSlow = () => new AppError('timeout', 'The body took too long to arrive.')

const tooBusy = () =>
  new AppError('unavailable', 'Too much is being received at once. Send this again.', {
    retryAfter: 10,
  })
