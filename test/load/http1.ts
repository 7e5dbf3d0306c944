import { connect } from 'node:net'
import type { Socket } from 'node:net'

export type Place = {
  /** Where the edge listens, whatever the host is called. */
  address: string
  http: number
  https: number
  /** A host with HTTPS off, and one with a certificate of its own. */
  plainHost: string
  secureHost: string
  /** What the second's certificate is from. */
  ca: string
}

/** The plain host as a connection is opened to it. */
export const plainly = ({ address, http: port, plainHost: host }: Place) => ({
  address,
  port,
  host,
})

type Head = { status: number; headers: Map<string, string> }

/**
 * A connection on which one request follows the other, and nothing is tried again: a client that would
 * hides what it lost.
 */
export class Connection {
  readonly #socket: Socket
  readonly #host: string
  readonly #chunks: AsyncIterator<Buffer>
  #rest = Buffer.alloc(0)
  #isOver = false

  private constructor(socket: Socket, host: string) {
    this.#socket = socket
    this.#host = host
    this.#chunks = (socket as AsyncIterable<Buffer>)[Symbol.asyncIterator]()
    socket.on('end', () => (this.#isOver = true))
    socket.on('close', () => (this.#isOver = true))
    socket.on('error', () => (this.#isOver = true))
  }

  static async open({ address, port, host }: { address: string; port: number; host: string }) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const socket = connect({ host: address, port, noDelay: true }, resolve)
    socket.once('error', reject)
    await promise
    socket.off('error', reject)
    return new Connection(socket, host)
  }

  /** Whether the other side has ended it, in order: no request is lost by that. */
  get isOver() {
    return this.#isOver
  }

  close() {
    this.#socket.destroy()
  }

  /** Asks, and reads the head of the response. */
  ask(method: string, path: string, headers: Record<string, string> = {}) {
    const lines = Object.entries({ Host: this.#host, ...headers }).map((pair) => pair.join(': '))
    this.write(Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`))
  }

  write(bytes: Uint8Array) {
    this.#socket.write(bytes)
  }

  async head(): Promise<Head> {
    const [first = '', ...lines] = (await this.#until('\r\n\r\n')).split('\r\n')
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const
      }),
    )
    if (headers.get('connection') === 'close') this.#isOver = true
    return { status: Number(first.split(' ')[1]), headers }
  }

  /** The body as it comes; throws when it is shorter than its head says. */
  async *body({ headers }: Head): AsyncGenerator<Buffer> {
    if (headers.get('transfer-encoding') !== 'chunked')
      return yield* this.#exactly(Number(headers.get('content-length') ?? 0))
    for (;;) {
      const size = parseInt(await this.#until('\r\n'), 16)
      yield* this.#exactly(size)
      await this.#until('\r\n')
      if (size === 0) return
    }
  }

  async #until(mark: string) {
    let at: number
    while ((at = this.#rest.indexOf(mark)) < 0) await this.#read()
    const text = this.#rest.subarray(0, at).toString('latin1')
    this.#rest = this.#rest.subarray(at + mark.length)
    return text
  }

  async *#exactly(length: number) {
    for (let left = length; left > 0;) {
      if (this.#rest.length === 0) await this.#read()
      const part = this.#rest.subarray(0, left)
      this.#rest = this.#rest.subarray(part.length)
      left -= part.length
      yield part
    }
  }

  async #read() {
    const { value, done } = await this.#chunks.next()
    if (done) throw new Error('the connection ended')
    this.#rest = Buffer.concat([this.#rest, value])
  }
}

export async function bytesOf(body: AsyncIterable<Uint8Array>) {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
