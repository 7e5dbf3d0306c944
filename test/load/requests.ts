import { connect } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders, IncomingHttpStatusHeader } from 'node:http2'
import { knownBytes } from './bytes.ts'
import { bytesOf, Connection, plainly } from './http1.ts'
import type { Place } from './http1.ts'

type Check = (version: string | null) => void
type Answer = { status: number; version: string | null; body: Uint8Array }

/** Bytes of a body; one that is short or of another request is noticed. */
const length = 2000

const draw = () => Math.floor(Math.random() * 2 ** 31)
const pathOf = (seed: number) => `/item?seed=${seed}&length=${length}`

/** One request after the other on a connection, which is only left when the other side ends it. */
export function keptConnection(place: Place) {
  let connection: Connection | null = null
  return async (check: Check) => {
    if (!connection || connection.isOver) connection = await Connection.open(plainly(place))
    try {
      await ask(connection, check)
    } catch (error) {
      connection.close()
      connection = null
      throw error
    }
  }
}

/** Each request on a connection of its own. */
export const freshConnection = (place: Place) => async (check: Check) => {
  const connection = await Connection.open(plainly(place))
  try {
    await ask(connection, check, { Connection: 'close' })
  } finally {
    connection.close()
  }
}

async function ask(connection: Connection, check: Check, headers = {}) {
  const seed = draw()
  connection.ask('GET', pathOf(seed), headers)
  const head = await connection.head()
  const version = head.headers.get('x-version') ?? null
  const body = await bytesOf(connection.body(head))
  verify({ status: head.status, version, body }, { seed, check })
}

/** Requests beside each other on one connection over TLS. */
export function http2Session(place: Place) {
  let session: ClientHttp2Session | null = null
  const open = () => {
    const made = connect(`https://${place.address}:${place.https}`, {
      servername: place.secureHost,
      ca: place.ca,
    })
    const forget = () => {
      if (session === made) session = null
    }
    for (const name of ['close', 'goaway', 'error'] as const) made.on(name, forget)
    return made
  }
  return async (check: Check) => {
    const seed = draw()
    session ??= open()
    const { promise, resolve, reject } = Promise.withResolvers<Answer>()
    const stream = session.request({
      ':path': pathOf(seed),
      ':authority': place.secureHost,
    })
    let head: IncomingHttpHeaders & IncomingHttpStatusHeader = {}
    const chunks: Buffer[] = []
    stream.on('response', (headers) => (head = headers))
    stream.on('data', (chunk: Buffer) => chunks.push(chunk))
    stream.on('error', reject)
    stream.on('close', () => reject(new Error('the stream ended without a response')))
    stream.on('end', () => {
      const version = String(head['x-version'])
      resolve({ status: Number(head[':status']), version, body: Buffer.concat(chunks) })
    })
    stream.end()
    verify(await promise, { seed, check })
  }
}

function verify(
  { status, version, body }: Answer,
  { seed, check }: { seed: number; check: Check },
) {
  if (status !== 200) throw new Error(`status ${status}: ${excerpt(body)}`)
  check(version)
  if (body.length !== length) throw new Error(`${body.length} bytes of ${length}`)
  if (Buffer.compare(body, knownBytes(seed, length)) !== 0) throw new Error('another body')
}

export const excerpt = (body: Uint8Array) =>
  Buffer.from(body).toString().replaceAll(/\s+/g, ' ').slice(0, 100)
