import { describe, expect, onTestFinished, test } from 'bun:test'
import { createServer, get } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

/** An app with an echo over WebSocket, and a stream of events that a test feeds. */
function anApp(name: string) {
  const feeds = new Set<ReadableStreamDefaultController<string>>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    websocket: { message: (socket, message) => void socket.send(`${name}: ${String(message)}`) },
    fetch(request, server) {
      if (server.upgrade(request)) return
      if (new URL(request.url).pathname !== '/events') return new Response(name)
      const stream = new ReadableStream<string>({ start: (feed) => void feeds.add(feed) })
      return new Response(stream as unknown as ReadableStream<Uint8Array>, {
        headers: { 'Content-Type': 'text/event-stream' },
      })
    },
  })
  onTestFinished(() => server.stop(true))
  return {
    address: `127.0.0.1:${server.port}`,
    isHeard: () => feeds.size > 0,
    say: (text: string) => feeds.forEach((feed) => feed.enqueue(`data: ${text}\n\n`)),
  }
}

async function aSocket() {
  const headers = { Host: 'app.test' }
  const socket = new WebSocket(`ws://127.0.0.1:${edge.ports.http}/`, { headers } as never)
  onTestFinished(() => socket.close())
  const heard: string[] = []
  socket.addEventListener('message', ({ data }) => heard.push(String(data)))
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve)
    socket.addEventListener('error', reject)
  })
  return {
    async ask(text: string) {
      const before = heard.length
      socket.send(text)
      await until(() => heard.length > before || socket.readyState !== WebSocket.OPEN)
      return heard.at(-1)
    },
  }
}

test('WebSockets and event streams outlive switches and new configurations', async () => {
  const old = anApp('old')
  edge.slots('app', old.address)
  await edge.serve([aHost('app.test')])
  const socket = await aSocket()
  const headers = { 'Accept-Encoding': 'gzip', Host: 'app.test' }
  const asked = edge.get('http://app.test/events', { headers })
  await until(() => old.isHeard()) // Bun sends no head before the first event
  old.say('first')
  const events = (await asked).body!.getReader()
  const next = async () => new TextDecoder().decode((await events.read()).value)
  expect(await next()).toBe('data: first\n\n')

  edge.slots('app', anApp('new').address)
  for (const name of ['b.test', 'c.test']) await edge.serve([aHost('app.test'), aHost(name)])
  expect(await (await edge.get('http://app.test/')).text()).toBe('new')
  expect(await socket.ask('still there?')).toBe('old: still there?')
  old.say('second')
  expect(await next()).toBe('data: second\n\n')
  await events.cancel()
})

describe('by a client that takes gzip', () => {
  /** The response to this client, while the app still writes it. */
  async function opened(head: Record<string, string>, sent: Record<string, string> = {}) {
    const response = Promise.withResolvers<ServerResponse>()
    const app = createServer((_, answer) => {
      answer.writeHead(200, head)
      answer.flushHeaders()
      response.resolve(answer)
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => app.once('listening', resolve))
    onTestFinished(() => void app.close().closeAllConnections())
    edge.slots('stream', `127.0.0.1:${(app.address() as AddressInfo).port}`)
    await edge.serve([aHost('stream.test', { target: { slots: 'stream' } })])
    const received = Promise.withResolvers<IncomingMessage>()
    const headers = { Host: 'stream.test', 'Accept-Encoding': 'gzip', ...sent }
    get({ port: edge.ports.http, headers }, received.resolve).on('error', received.reject)
    return { app: await response.promise, client: received.promise }
  }

  test.each([
    ['events', { 'Content-Type': 'text/event-stream' }],
    ['events of a charset', { 'Content-Type': 'Text/Event-Stream; charset=utf-8' }],
    ['lines of JSON', { 'Content-Type': 'application/x-ndjson' }],
    ['a sequence of JSON', { 'Content-Type': 'application/json-seq' }],
    ['plain text', { 'Content-Type': 'text/plain; charset=utf-8' }],
    ['pictures', { 'Content-Type': 'multipart/x-mixed-replace; boundary=x' }],
    ['no type', {}],
    ['bytes of a known length', { 'Content-Type': 'video/mp4', 'Content-Length': '5033' }],
    [
      'JSON that isn’t to be kept',
      { 'Content-Type': 'application/json', 'X-Accel-Buffering': 'no' },
    ],
  ])('a stream of %s has its head and each part at once', async (_, head) => {
    const { app, client } = await opened(head as Record<string, string>)
    const response = await client // before there is any body
    expect(response.headers['content-encoding']).toBeUndefined()
    const parts = response.setEncoding('utf8').iterator()
    for (const part of ['data: first\n\n', `data: ${'x'.repeat(5000)}\n\n`, 'data: last\n\n']) {
      app.write(part)
      let text = ''
      while (text.length < part.length) text += (await parts.next()).value
      expect(text).toBe(part)
    }
    app.end()
    expect((await parts.next()).done).toBe(true)
  })

  test('a document that is written in parts is compressed, and each part sent at once', async () => {
    const { app, client } = await opened({ 'Content-Type': 'text/html' })
    app.write('<p>long</p>'.repeat(1000))
    const response = await client
    expect(response.headers['content-encoding']).toBe('gzip')
    expect(response.headers.vary).toContain('Accept-Encoding')
    const parts: Buffer[] = []
    for await (const part of response) {
      parts.push(part)
      if (parts.length === 1) app.end('<p>end</p>')
    }
    expect(gunzipSync(Buffer.concat(parts)).toString()).toEndWith('<p>long</p><p>end</p>')
  })
})

test('a compressed response is asked for by the app’s own tag', async () => {
  edge.slots(
    'tagged',
    edge.app(({ headers }) =>
      headers.get('If-None-Match') === '"abc"'
        ? new Response(null, { status: 304, headers: { ETag: '"abc"' } })
        : new Response('long '.repeat(1000), { headers: { ETag: '"abc"' } }),
    ),
  )
  await edge.serve([aHost('tagged.test', { target: { slots: 'tagged' } })])
  for (const encoding of ['gzip', 'zstd', 'identity']) {
    const ask = (headers: Record<string, string> = {}) =>
      edge.get('http://tagged.test/', { headers: { 'Accept-Encoding': encoding, ...headers } })
    const tag = (await ask()).headers.get('ETag')!
    expect(tag).toBe(encoding === 'identity' ? '"abc"' : `"abc-${encoding}"`)
    expect((await ask({ 'If-None-Match': tag })).status).toBe(304)
  }
})
