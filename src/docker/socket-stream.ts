import { setTimeout as sleep } from 'node:timers/promises'
import { Dechunker } from './dechunk.ts'
import { hangupSignal, refusal } from './failures.ts'

/** Bytes that come at once where more will follow at once. */
const busy = 4096

/** Milliseconds to let more of them come together. */
const rest = 1

/**
 * The body of an answer over the engine's own socket. The engine sends every line of a log in a piece
 * of its own, and reading them one by one with node:http takes most of a processor. It reads no faster
 * than it is pulled.
 */
export async function* socketStream(
  { socketPath, target }: { socketPath: string; target: string },
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const connection = await connect(socketPath, signal)
  try {
    connection.send(`GET ${target} HTTP/1.1\r\nHost: docker\r\nConnection: close\r\n\r\n`)
    const { status, first } = await readHead(connection)
    const body = readBody(connection, first)
    if (!(status < 300)) throw refusal(status, await readText(body))
    yield* body
  } finally {
    connection.close()
  }
}

type Connection = Awaited<ReturnType<typeof connect>>

async function connect(unix: string, signal: AbortSignal | undefined) {
  signal?.throwIfAborted()
  let pieces: Uint8Array[] = []
  let isOver = false
  let failure: unknown = null
  let wake = () => {}
  const end = (error: unknown = null) => {
    isOver = true
    failure ??= error
    wake()
  }
  const socket = await Bun.connect({
    unix,
    socket: {
      data(socket, bytes) {
        pieces.push(bytes)
        socket.pause()
        wake()
      },
      end: () => end(),
      close: () => end(),
      error: (_, error) => end(error),
    },
  })
  const abort = () => end(signal!.reason)
  if (signal?.aborted) abort() // while it was being connected
  signal?.addEventListener('abort', abort, { once: true })
  return {
    send: (text: string) => socket.write(text),
    /** What has come; null at the end. */
    async read(): Promise<Uint8Array | null> {
      while (pieces.length === 0 && !isOver) {
        const woken = new Promise<void>((resolve) => (wake = resolve))
        socket.resume()
        await woken
      }
      if (failure) throw failure
      if (pieces.length === 0) return null
      const read = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
      pieces = []
      return read
    },
    close() {
      signal?.removeEventListener('abort', abort)
      socket.terminate()
    },
  }
}

async function readHead(connection: Connection) {
  let head = Buffer.alloc(0)
  for (;;) {
    const bytes = await connection.read()
    if (!bytes) throw hangupSignal
    head = Buffer.concat([head, bytes])
    const end = head.indexOf('\r\n\r\n')
    if (end < 0) continue
    const headers = head.toString('latin1', 0, end)
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(headers)?.[1])
    return { status, first: { headers, rest: head.subarray(end + 4) } }
  }
}

async function* readBody(
  connection: Connection,
  { headers, rest: first }: { headers: string; rest: Uint8Array },
): AsyncGenerator<Uint8Array> {
  const chunks = /\r\ntransfer-encoding: *chunked/i.test(headers) ? new Dechunker() : null
  let left = Number(/\r\ncontent-length: *(\d+)/i.exec(headers)?.[1] ?? Infinity)
  for (let bytes: Uint8Array | null = first; bytes; bytes = await connection.read()) {
    const payload = chunks ? chunks.push(bytes) : bytes
    if (payload.length > 0) yield payload
    left -= payload.length
    if (chunks?.done || left <= 0) return
    if (bytes.length >= busy) await sleep(rest)
  }
  if (chunks || left !== Infinity) throw hangupSignal
}

async function readText(body: AsyncIterable<Uint8Array>) {
  const pieces: Uint8Array[] = []
  for await (const piece of body) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}
