import { onTestFinished } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { loopback } from '../support/tls.ts'

export type Received = {
  method: string
  path: string
  query: URLSearchParams
  headers: Headers
  body: any
}

/** Answers as it is told, in turn; then with 204. What it accepted is remembered. */
export function httpReceiver({ tls = false } = {}) {
  const accepted: Received[] = []
  const refused: Received[] = []
  const answers: ((request: Received) => Response | Promise<Response>)[] = []
  let always: (typeof answers)[number] | null = null
  const server = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1' },
    ...(tls && { tls: { key: loopback.key, cert: loopback.cert } }),
    async fetch(request) {
      const { pathname, searchParams: query } = new URL(request.url)
      const isJson = request.headers.get('Content-Type')?.includes('json')
      const body = isJson ? await request.json() : new Uint8Array(await request.arrayBuffer())
      const { method, headers } = request
      const received = { method, path: pathname, query, headers, body }
      const answer = always ?? answers.shift()
      const response = (await answer?.(received)) ?? new Response(null, { status: 204 })
      ;(response.ok ? accepted : refused).push(received)
      return response
    },
  })
  onTestFinished(() => server.stop(true))
  return {
    ...{ accepted, refused },
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${server.port}`,
    port: server.port!,
    next: (...given: typeof answers) => void answers.push(...given),
    always: (answer: typeof always) => void (always = answer),
  }
}

export const status =
  (code: number, body = '', headers = {}) =>
  () =>
    new Response(body, { status: code, headers })

/** Reads messages as RFC 6587 frames them: the length, a space, and so many bytes. */
export async function syslogReceiver({
  tls = false,
  answers = 'closes' as 'closes' | 'hangs' | 'ends',
} = {}) {
  const messages: string[] = []
  const read = (socket: Socket) => {
    let buffer = Buffer.alloc(0)
    socket.on('error', () => {})
    if (answers === 'ends') return void socket.end()
    socket.on('data', (chunk) => {
      buffer = Buffer.concat([buffer, chunk])
      for (;;) {
        const at = buffer.indexOf(' ')
        const length = Number(buffer.subarray(0, at).toString())
        if (at < 1 || buffer.length < at + 1 + length) return
        messages.push(buffer.subarray(at + 1, at + 1 + length).toString())
        buffer = buffer.subarray(at + 1 + length)
      }
    })
    socket.on('end', () => answers === 'closes' && socket.end())
  }
  const options = { allowHalfOpen: true }
  const server: Server = tls
    ? createTlsServer({ ...options, key: loopback.key, cert: loopback.cert }, read)
    : createServer(options, read)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { messages, port: (server.address() as { port: number }).port, server }
}

/** True if the query has the signature that AWS documents for presigned requests. */
export function isSignedWith(secretKey: string, { method, path, query, headers }: Received) {
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(
      /[!'()*]/g,
      (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
    )
  const pairs = [...query].filter(([name]) => name !== 'X-Amz-Signature')
  const sorted = pairs.map((pair) => pair.map(encoded).join('=')).sort()
  const host = headers.get('host')!
  const request = [method, path, sorted.join('&'), `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD']
  const [, day, region, service, end] = query.get('X-Amz-Credential')!.split('/')
  const hash = createHash('sha256').update(request.join('\n')).digest('hex')
  const scope = [day, region, service, end].join('/')
  const text = ['AWS4-HMAC-SHA256', query.get('X-Amz-Date'), scope, hash].join('\n')
  const key = [day, region, service, end].reduce<string | Buffer>(
    (before, part) => createHmac('sha256', before).update(part!).digest(),
    `AWS4${secretKey}`,
  )
  return createHmac('sha256', key).update(text).digest('hex') === query.get('X-Amz-Signature')
}
