import { digestOf, knownBytes } from './bytes.ts'
import { bytesOf, Connection, plainly } from './http1.ts'
import type { Place } from './http1.ts'
import { excerpt } from './requests.ts'
import { Cut } from './tally.ts'

type Check = (version: string | null) => void
type Head = Awaited<ReturnType<Connection['head']>>

/** Milliseconds between two of the `ticks` that a stream comes in. */
export const tick = 100

/** Bytes of a tick. */
const part = 2500

/** Echoes over a WebSocket, each by the version and instance that it began with. */
export const webSocket = (place: Place, ticks: number) => async (check: Check) => {
  const headers = { Host: place.plainHost }
  const socket = new WebSocket(`ws://${place.address}:${place.http}/echo`, { headers } as never)
  let isOpen = false
  let instance: string | null = null
  let ended: Error | null = null
  const expectMessage = () => {
    const message = Promise.withResolvers<string[]>()
    message.promise.catch(() => {}) // the socket may end while nothing is waited for
    if (ended) message.reject(ended)
    return message
  }
  let next = expectMessage()
  socket.addEventListener('open', () => (isOpen = true))
  socket.addEventListener('message', ({ data }) => next.resolve(String(data).split(' ')))
  socket.addEventListener('close', ({ code, reason }) => {
    const text = `the WebSocket ended: ${code} ${reason}`
    ended = isOpen ? new Cut(text, instance) : new Error(text)
    next.reject(ended)
  })
  try {
    const [version, on] = await next.promise
    check(version!)
    instance = on!
    for (let at = 0; at < ticks; at++) {
      next = expectMessage()
      if (!ended) socket.send(String(at))
      const echo = (await next.promise).join(' ')
      if (echo !== `${version} ${on} ${at}`)
        throw new Cut(`${version} on ${on} echoes ${at} as ${echo}`, instance)
      next = expectMessage()
      await Promise.race([Bun.sleep(tick), next.promise])
    }
  } finally {
    socket.close()
  }
}

/** Server-sent events, numbered, and one that says that it is the last. */
export const eventStream = (place: Place, ticks: number) =>
  alone(place, async (connection, check) => {
    connection.ask('GET', `/events?ticks=${ticks}`, { 'Accept-Encoding': 'gzip' })
    const body = await theBody(connection, check)
    const wanted = Array.from({ length: ticks }, (_, at) => `data: ${at}\n\n`).join('')
    const text = body.bytes.toString()
    if (text !== `${wanted}event: end\ndata: \n\n`)
      throw new Cut(`the events end with ${JSON.stringify(text.slice(-40))}`, body.instance)
  })

export const slowDownload = (place: Place, ticks: number) =>
  alone(place, async (connection, check) => {
    const seed = Math.floor(Math.random() * 2 ** 31)
    const length = ticks * part
    connection.ask('GET', `/download?seed=${seed}&length=${length}&ticks=${ticks}`)
    const { bytes, instance } = await theBody(connection, check)
    if (Buffer.compare(bytes, knownBytes(seed, length)) !== 0)
      throw new Cut('the download has another body', instance)
  })

/** The response has the digest of what arrived. */
export const slowUpload = (place: Place, ticks: number) =>
  alone(place, async (connection, check) => {
    const length = ticks * part
    const bytes = knownBytes(Math.floor(Math.random() * 2 ** 31), length)
    connection.ask('PUT', '/upload', { 'Content-Length': String(length) })
    for (let at = 0; at < length; at += part) {
      if (connection.isOver) throw new Cut('the upload was cut off', null)
      connection.write(bytes.subarray(at, at + part))
      await Bun.sleep(tick)
    }
    const body = await theBody(connection, check)
    if (body.bytes.toString() !== digestOf(bytes))
      throw new Error(`another digest: ${excerpt(body.bytes)}`)
  })

const alone =
  (place: Place, work: (connection: Connection, check: Check) => Promise<void>) =>
  async (check: Check) => {
    const connection = await Connection.open(plainly(place))
    try {
      await work(connection, check)
    } finally {
      connection.close()
    }
  }

async function theBody(connection: Connection, check: Check) {
  const head: Head = await connection.head()
  if (head.status !== 200) {
    const body = await bytesOf(connection.body(head)).catch(() => new Uint8Array())
    throw new Error(`status ${head.status}: ${excerpt(body)}`)
  }
  check(head.headers.get('x-version') ?? null)
  const instance = head.headers.get('x-instance') ?? null
  try {
    return { bytes: await bytesOf(connection.body(head)), instance }
  } catch (error) {
    throw new Cut((error as Error).message, instance)
  }
}
