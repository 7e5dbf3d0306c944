import type { Duplex } from 'node:stream'
import { Writable } from 'node:stream'
import { Failure } from '../platform/errors.ts'
import { detachKeys } from './attach.ts'
import { inspectEnded } from './container-inspect.ts'
import { createContainer, removeContainer, startContainer, waitForExit } from './containers.ts'
import type { ContainerOptions } from './container-config.ts'
import type { Abortable, Engine } from './engine.ts'
import { FrameSplitter } from './log-entries.ts'

export type PipedOptions = Omit<ContainerOptions, 'tty' | 'logs' | 'piped'> &
  Abortable & {
    /** Writes its input, which ends when this settles. By default there is none. */
    stdin?: (to: Writable, signal: AbortSignal) => Promise<void>
    /** Awaited when its input was written, before that ends: a connection that breaks ends it without. */
    beforeEnd?: (containerId: string) => Promise<unknown>
    /** Gets what it writes to stderr as it arrives. */
    onStderr?: ((bytes: Uint8Array) => void) | undefined
    /** Reads its output; the process blocks while nothing is read. By default it is discarded. */
    stdout?: (from: AsyncIterable<Uint8Array>, signal: AbortSignal) => Promise<void>
    /**
     * True when its script ends with `&& printf %s "$DAVIT_END" && { read -r _ || :; }`, by which a complete output is
     * told from one that was cut: the engine drops what isn't read 2 s after the end of a process.
     */
    isMarked?: boolean
    /** How many bytes of its errors are kept: the last ones. */
    maxStderr?: number
  }

export type PipedResult = {
  exitCode: number
  oomKilled: boolean
  /** By default its last 8 KiB. */
  stderr: string
}

/** Milliseconds between the end of the output and of the process. */
const exitTimeout = 30_000

/**
 * Runs a container to its end with its input and output as streams, which the engine doesn't log, and removes
 * it in any case. An error of either stream ends the container and is thrown; the caller judges the exit code.
 */
export async function runPiped(engine: Engine, piped: PipedOptions): Promise<PipedResult> {
  const {
    stdin,
    beforeEnd,
    onStderr,
    stdout,
    isMarked = false,
    maxStderr = 8192,
    signal,
    ...options
  } = piped
  const mark = isMarked ? `davit-end-${crypto.randomUUID()}` : null
  const env = { ...options.env, ...(mark !== null && { DAVIT_END: mark }) }
  const id = await createContainer(engine, { ...options, env, piped: true, signal })
  let connection: Duplex | undefined
  const stop = new AbortController()
  const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal
  // in this order: the end of the connection is the end of its input, which it would take for complete
  const end = () =>
    removeContainer(engine, id, { force: true, volumes: true }).finally(() => connection?.destroy())
  try {
    connection = await attach(engine, id, either)
    either.addEventListener('abort', () => void end().catch(() => {}), { once: true })
    either.throwIfAborted()
    await startContainer(engine, id, { signal })
    const output = new Output(connection, { mark, maxStderr, onStderr })
    const input = inputOf(connection, output)
    const failed = (error: unknown) => {
      stop.abort(error)
      throw error
    }
    // its input stays open until the mark was read: only then may the process end
    const fed = stdin
      ? stdin(input, either).then(
          async () => {
            await beforeEnd?.(id)
            input.end()
          },
          (error) => output.ended || failed(error),
        )
      : mark === null && input.end()
    const read = drain(output, stdout, either).catch(failed)
    await Promise.all([read, fed])
    if (mark !== null) input.end()
    await output.closed
    const over = AbortSignal.any([either, AbortSignal.timeout(exitTimeout)])
    await waitForExit(engine, id, { signal: over })
    const found = await inspectEnded(engine, id, { signal })
    if (!found) throw cutShort('its container was removed')
    const { exitCode, oomKilled } = found
    if (exitCode === 0 && mark !== null && !output.marked) throw cutShort('the output was cut')
    return { exitCode, oomKilled, stderr: output.stderr }
  } catch (error) {
    throw either.aborted ? either.reason : error
  } finally {
    await end()
  }
}

async function attach(engine: Engine, id: string, signal: AbortSignal) {
  const path = `/containers/${encodeURIComponent(id)}/attach`
  const query = { stream: true, stdin: true, stdout: true, stderr: true, detachKeys }
  const connection = await engine.hijack(path, { query, signal })
  connection.on('error', () => {}) // the reader gets the error
  return connection
}

/** Passes everything on, then reads what is left: the process must not block on it. */
async function drain(
  output: Output,
  stdout: PipedOptions['stdout'],
  signal: AbortSignal,
): Promise<void> {
  const chunks = output.chunks()
  // leaving a loop over it must not end it
  const from = { [Symbol.asyncIterator]: () => ({ next: () => chunks.next() }) }
  await stdout?.(from, signal)
  for await (const _ of chunks) continue
}

/** Ending it leaves the output open. It fails when the process ended first. */
function inputOf(connection: Duplex, output: Output) {
  let pending: ((error?: Error | null) => void) | null = null
  const settle = (error?: Error | null) => {
    const done = pending
    pending = null // first, since the next chunk may be written at once
    done?.(error)
  }
  const input = new Writable({
    write(chunk, _, done) {
      pending = done
      connection.write(chunk, (error) => pending === done && settle(error))
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

class Output {
  readonly #connection: Duplex
  readonly #mark: Buffer | null
  readonly #maxStderr: number
  readonly #onStderr: PipedOptions['onStderr']
  readonly #frames = new FrameSplitter()
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
    }: Pick<PipedOptions, 'onStderr'> & { mark: string | null; maxStderr: number },
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
        const joined = this.#withoutMark(this.#split(chunk))
        if (joined.length > 0) yield joined
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
    this.#frames.push(chunk, (stream, bytes, from, end) => {
      const piece = bytes.subarray(from, end)
      if (stream === 'stdout') return void pieces.push(piece)
      this.#stderr = Buffer.concat([this.#stderr, piece]).subarray(-this.#maxStderr)
      this.#onStderr?.(piece)
    })
    return pieces
  }

  /** Holds back as many bytes as the mark has: they may be its beginning. */
  #withoutMark(pieces: Uint8Array[]) {
    const mark = this.#mark
    if (!mark) return Buffer.concat(pieces)
    const bytes = Buffer.concat([this.#held, ...pieces])
    const cut = Math.max(0, bytes.length - mark.length)
    this.#held = bytes.subarray(cut)
    this.marked = mark.equals(this.#held)
    return bytes.subarray(0, cut)
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

const cutShort = (why: string) =>
  new Failure(
    'cut_short',
    `The connection to a container ended too early: ${why}.`,
    'Check that Docker wasn’t restarted, then try again.',
  )
