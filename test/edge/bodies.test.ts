import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownCaddy } from '../../src/edge/own.ts'
import { makeFolder } from '../../src/edge/slots.ts'
import { until } from '../support/until.ts'
import { aHost, anEdge, signal } from './caddy.ts'

const edge = await anEdge()

/** An app that takes requests, and answers those without a body. */
let taken = 0
const app = Bun.listen({
  ...{ hostname: '127.0.0.1', port: 0 },
  socket: {
    data(socket, data) {
      const text = data.toString()
      if (/^POST/.test(text)) taken++
      if (/^GET/.test(text)) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    },
  },
})
afterAll(() => app.stop(true))
edge.slots('app', `127.0.0.1:${app.port}`)

/** Sends a head, and resolves with the status of the response, or null if there is none. */
function send(localAddress: string, head: string[], body = '') {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const socket = connect({ host: '127.0.0.1', port: edge.ports.http, localAddress } as never)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => resolve(null)).on('close', () => resolve(null))
  socket.once('data', (data) => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(data.toString())?.[1])))
  socket.write([...head, 'Host: app.test', '', body].join('\r\n'))
  return { status: promise, leave: () => socket.destroy() }
}

const get = 'GET / HTTP/1.1'
const post = ['POST / HTTP/1.1', 'Transfer-Encoding: chunked']

test('headers of more than 64 KiB are refused before any of the body is read', async () => {
  await edge.serve([aHost('app.test')])
  const large = (size: number) => `X-Large: ${'x'.repeat(size)}`
  expect(await send('127.0.0.2', [get, large(60_000)]).status).toBe(200)
  const huge = [get, 'Content-Length: 10', large(1_000_000)]
  expect(await send('127.0.0.2', huge, 'a').status).toBe(431)
})

test('one address has no more than 512 bodies under way, and leaves others theirs', async () => {
  await edge.serve([aHost('app.test')])
  const body = () => send('127.0.0.12', post, '1\r\na\r\n')
  const begun = Array.from({ length: 512 }, body)
  await until(() => taken === 512)
  const more = await Promise.all(Array.from({ length: 8 }, () => body().status))
  expect([taken, ...more]).toEqual([512, ...Array(8).fill(429)])
  expect(await send('127.0.0.12', [get]).status).toBe(200)
  const other = send('127.0.0.13', post, '1\r\na\r\n')
  await until(() => taken === 513)
  for (const { leave } of [...begun, other]) leave()
  const again = send('127.0.0.12', post, '1\r\na\r\n')
  await until(() => taken === 514)
  again.leave()
})

test('a Caddy that knows no time of a body is configured without one', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'davit-edge-'))
  makeFolder(folder)
  const loaded: string[] = []
  let current = 'null'
  const newer = Bun.serve({
    unix: join(folder, 'admin.sock'),
    async fetch(request) {
      if (request.method === 'GET') return new Response(current)
      const text = await request.text()
      loaded.push(text)
      const error = 'http.handlers.request_body: json: unknown field "read_timeout"'
      if (/request_body/.test(text)) return Response.json({ error }, { status: 400 })
      current = text
      return new Response()
    },
  })
  onTestFinished(async () => {
    await newer.stop(true)
    rmSync(folder, { recursive: true })
  })
  const here = { apart: null, isContained: false, isRunning: true, hasImage: true }
  const caddy = ownCaddy({
    ...{ folder, ports: edge.ports },
    engine: {
      look: async () => here,
      pull: async () => {},
      ensure: async () => ({ version: '3.0' }),
      remove: async () => {},
    },
  })
  const none = { listeners: [], authority: null }
  const plan = { folder: '/edge', ports: edge.ports, hosts: [aHost('app.test')], ...none }
  await caddy.start(plan, { signal })
  for (let n = 0; n < 2; n++) await caddy.serve(plan, { signal })
  expect(loaded.map((text) => text.includes('request_body'))).toEqual([true, false])
})
