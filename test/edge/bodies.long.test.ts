import { expect, test } from 'bun:test'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { gitExample } from '../support/tls.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()

/** Seconds: more than a body of less than 10,000 bytes may take. */
const long = 35

edge.slots(
  'app',
  edge.app(async (request) => {
    const { length } = await request.text()
    const body = async function* () {
      yield `${length} bytes, `
      await Bun.sleep(long * 1000)
      yield 'answered'
    }
    return new Response(body() as unknown as ReadableStream)
  }),
)

test('a body that drips ends after its time, and a long response to one that came does not', async () => {
  const { cert: certificate, key } = gitExample
  const https = { kind: 'own', redirect: false, certificate, key } as const
  await edge.serve([aHost('git.example', {}, { https })])
  const from = performance.now()
  const took = () => (performance.now() - from) / 1000

  const post = async (body?: string) =>
    (await edge.get('http://git.example/', { method: 'POST', body })).text()
  const posted = [post('hello'), post()]
  const session = connectHttp2(`https://127.0.0.1:${edge.ports.https}`, {
    ...{ servername: 'git.example', rejectUnauthorized: false },
  })
  const stream = (length: number) => {
    const head = { ':method': 'POST', ':authority': 'git.example', 'content-length': length }
    return session.request(head)
  }
  const whole = stream(5).end('hello')
  const text = whole.toArray().then((chunks) => Buffer.concat(chunks).toString())

  const dripping = connect(edge.ports.http, '127.0.0.1')
  dripping.write('POST / HTTP/1.1\r\nHost: git.example\r\nContent-Length: 100\r\n\r\n')
  const drips = setInterval(() => dripping.write('a'), 1000)
  dripping.on('error', () => {}).resume()
  const stalled = stream(100)
  stalled.write('a')
  stalled.on('error', () => {}).resume()
  await Promise.all([once(dripping, 'close'), once(stalled, 'close')])
  clearInterval(drips)
  expect(took()).toBeGreaterThan(28)
  expect(took()).toBeLessThan(long)

  expect(await text).toBe('5 bytes, answered')
  expect(await Promise.all(posted)).toEqual(['5 bytes, answered', '0 bytes, answered'])
  session.destroy()
})

test('a body that no app reads keeps its connection for ten seconds', async () => {
  await edge.serve([aHost('app.test', { target: { page: 'maintenance' } })])
  const from = performance.now()
  const left = ['app.test', 'nobody.test'].map(async (host) => {
    const socket = connect(edge.ports.http, '127.0.0.1')
    socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n`)
    socket.on('error', () => {}).resume()
    await once(socket, 'close')
  })
  await Promise.all(left)
  expect((performance.now() - from) / 1000).toBeLessThan(15)
})
