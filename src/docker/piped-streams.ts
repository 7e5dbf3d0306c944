import type { Duplex } from 'node:stream'
import { Writable } from 'node:stream'
import type { Abortable } from './engine.ts'
import { giveBack, lend } from './lent.ts'
import { FrameParts } from './log-entries.ts'

/** What a process reads and writes. */
export type Streams = Abortable & {
  /** Writes its input, which ends when this settles. By default there is none. */
  stdin?: (to: Writable, signal: AbortSignal, containerId: string) => Promise<void>
  /** Gets what it writes to stderr as it arrives. */
  onStderr?: ((bytes: Uint8Array) => void) | undefined
  /**
   * Reads its output; the process blocks while nothing is read. By default it is discarded. What was written to the
   * input of another process can’t be read any more.
   */
  stdout?: (from: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
  /**
   * True when its script ends with `&& printf %s "$DAVIT_END" && { read -r _ || :; }`, by which a complete output is
   * told from one that was cut: the engine drops what isn't read 2 s after the end of a process.
   */
  isMarked?: boolean
  /** How many bytes of its errors are kept: the last ones. */
  maxStderr?: number
}

/** Passes everything on, then reads what is left: the process must not block on it. */
export async function drain(
  output: Output,
  stdout: Streams['stdout'],
  signal: AbortSignal,
): Promise<void> {
  const chunks = output.chunks()
  // leaving a loop over it must not end it
  const from = { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) }
  const readOn = async () => {
    for await (const _ of chunks) continue
  }
  try {
    await stdout?.(from, signal)
  } catch (error) {
    void readOn().catch(() => {}) // the engine may not end a process whose output waits to be read
    throw error
  }
  await readOn()
}

/** Ending it leaves the output open. It fails when the process ended first. */
export function inputOf(connection: Duplex, output: Output) {
  let pending: ((error?: Error | null) => void) | null = null
  const settle = (error?: Error | null) => {
    const done = pending
    pending = null // first, since the next chunk may be written at once
    done?.(error)
  }
  const input = new Writable({
    write(chunk, _, done) {
      pending = done
      // not at once: a writer that never waits would keep the end of the connection from being seen
      connection.write(chunk, (error) => {
        if (!error) giveBack(chunk)
        setImmediate(() => pending === done && settle(error))
      })
    },
    final(done) {
      connection.end()
      done()
    },
  })
  input.on('error', () => {}) // the writer gets it
  void output.closed.then(() => {
    const unread = new Error('The process ended before its input.')
    settle(unread) // the engine reads no more, and closes the connection seconds later
    input.destroy(unread)
  })
  return input
}

/** Of a process, as the engine frames it. */
export class Output {
  readonly #connection: Duplex
  readonly #mark: Buffer | null
  readonly #maxStderr: number
  readonly #onStderr: Streams['onStderr']
  readonly #frames = new FrameParts()
  readonly #closed = Promise.withResolvers<void>()
  #held: Uint8Array = Buffer.alloc(0)
  #stderr: Uint8Array = Buffer.alloc(0)
  readonly closed = this.#closed.promise
  ended = false
  marked = false

  constructor(
    connection: Duplex,
    {
      mark,
      maxStderr,
      onStderr,
    }: Pick<Streams, 'onStderr'> & { mark: string | null; maxStderr: number },
  ) {
    this.#connection = connection
    this.#onStderr = onStderr
    this.#mark = mark === null ? null : Buffer.from(mark)
    this.#maxStderr = maxStderr
  }

  get stderr() {
    return Buffer.from(this.#stderr).toString()
  }

  /** Ends with the mark, or with the connection. */
  async *chunks(): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#connection.iterator({ destroyOnReturn: false })) {
        const pieces = this.#withoutMark(this.#split(chunk))
        lend(chunk, pieces)
        for (const piece of pieces) if (piece.length > 0) yield piece
        if (this.marked) break
      }
      if (this.#held.length > 0 && !this.marked) yield this.#held
    } finally {
      if (this.marked) this.#readOn()
      else this.#end()
    }
  }

  /** Returns what is of its output, and keeps what is of its errors. */
  #split(chunk: Uint8Array) {
    const pieces: Uint8Array[] = []
    this.#frames.push(chunk, (stream, piece) => {
      if (stream === 'stdout') return void pieces.push(piece)
      this.#stderr = Buffer.concat([this.#stderr, piece]).subarray(-this.#maxStderr)
      this.#onStderr?.(piece)
    })
    return pieces
  }

  /** Holds back as many bytes as the mark has: they may be its beginning. */
  #withoutMark(pieces: Uint8Array[]) {
    const mark = this.#mark
    if (!mark) return pieces
    const all = [this.#held, ...pieces]
    let left = all.reduce((sum, { length }) => sum + length, -mark.length)
    const passed = all.map((one) => {
      const piece = one.subarray(0, Math.max(0, left))
      left -= piece.length
      return piece
    })
    this.#held = Buffer.concat(all.map((one, at) => one.subarray(passed[at]!.length)))
    this.marked = mark.equals(this.#held)
    return passed
  }

  /** The engine may pass on errors that were written before the mark after it. */
  #readOn() {
    this.#connection.once('close', () => this.#end()).once('end', () => this.#end())
    this.#connection.on('data', (chunk: Uint8Array) => void this.#split(chunk))
  }

  #end() {
    this.ended = true
    this.#closed.resolve()
  }
}
