import type { Context } from 'hono'
import { AppError } from '../platform/errors.ts'
import { KeyedLock, Semaphore } from '../platform/semaphore.ts'
import { networkOf } from '../web/client-address.ts'
import type { Env } from '../web/factory.ts'

const mib = 1024 * 1024

/** In bytes. GitHub sends no larger ones. */
const maxBody = 25 * mib

/** In bytes: a shorter body is read without waiting for memory. Also the total for all of these. */
const maxSmall = 256 * 1024
const maxSmallHeld = 8 * mib

/** In bytes, for all larger bodies together. Each waits for memory; a sender has one at a time. */
const maxLargeHeld = 32 * mib

type Work<Result> = (body: Buffer) => Promise<Result>

/** Reads raw bodies within limits, for each body and for all concurrent ones. */
export class BodyReader {
  readonly #large = new Semaphore(maxLargeHeld)
  readonly #senders = new KeyedLock()
  #smallHeld = 0

  /**
   * Runs work on the complete body; its bytes are only valid during the call. Throws `too_large` as soon as
   * the limit is passed, whatever Content-Length says. The signal ends the reading, not the work.
   */
  async read<Result>(
    c: Context<Env>,
    { signal }: { signal: AbortSignal },
    work: Work<Result>,
  ): Promise<Result> {
    const announced = lengthOf(c)
    if (announced > maxBody) throw tooLarge()
    const reader = c.req.raw.body?.getReader()
    if (!reader) return work(Buffer.alloc(0))
    const next = () => readNext(reader, signal)
    const stop = () => void reader.cancel().catch(() => {})
    signal.addEventListener('abort', stop, { once: true })
    const first: Uint8Array[] = []
    let held = 0
    const hold = (bytes: number) => {
      held += bytes
      this.#smallHeld += bytes
    }
    try {
      while (held <= maxSmall) {
        if (this.#smallHeld > maxSmallHeld && held > 0) throw tooBusy()
        const bytes = await next()
        if (!bytes) return await work(Buffer.concat(first))
        first.push(bytes)
        hold(bytes.length)
      }
      const from = { network: networkOf(c.var.address), expected: announced || maxBody, signal }
      return await this.#inTurn(from, async (place) => {
        for (const bytes of first.splice(0)) place.add(bytes)
        hold(-held)
        for (let bytes = await next(); bytes; bytes = await next()) place.add(bytes)
        return await work(place.whole())
      })
    } finally {
      hold(-held)
      signal.removeEventListener('abort', stop)
      stop()
    }
  }

  async #inTurn<Result>(
    { network, expected, signal }: { network: string; expected: number; signal: AbortSignal },
    work: (place: BodyMemory) => Promise<Result>,
  ) {
    let hasPlace = false
    return this.#senders
      .run(network, signal, async () => {
        using _ = await this.#large.acquire(signal, expected)
        hasPlace = true
        using place = new BodyMemory(expected)
        return await work(place)
      })
      .catch((error) => {
        throw !hasPlace && signal.aborted ? tooBusy() : error
      })
  }
}

async function readNext(
  reader: { read(): Promise<{ done: boolean; value?: Uint8Array }> },
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const { done, value } = await reader.read().catch(() => {
    throw signal.aborted ? tooSlow() : new AppError('bad_request', 'The body is incomplete.')
  })
  if (signal.aborted) throw tooSlow()
  return done ? null : value!
}

/** The memory of one body, freed explicitly. Unwritten pages cost nothing. */
class BodyMemory {
  readonly #memory: ArrayBuffer
  #size = 0

  constructor(bytes: number) {
    this.#memory = new ArrayBuffer(bytes)
  }

  add(bytes: Uint8Array) {
    if (this.#size + bytes.length > this.#memory.byteLength) throw tooLarge()
    new Uint8Array(this.#memory).set(bytes, this.#size)
    this.#size += bytes.length
  }

  whole() {
    return Buffer.from(this.#memory, 0, this.#size)
  }

  [Symbol.dispose]() {
    this.#memory.transfer(0)
  }
}

function lengthOf(c: Context<Env>) {
  const length = c.req.header('Content-Length') ?? ''
  return /^\d+$/.test(length) ? Number(length) : 0
}

const tooLarge = () => new AppError('too_large', 'The body is larger than 25 MiB.')

const tooSlow = () => new AppError('timeout', 'The body took too long to arrive.')

const tooBusy = () =>
  new AppError('unavailable', 'Too many deliveries are arriving at once. Send this again.', {
    retryAfter: 10,
  })
