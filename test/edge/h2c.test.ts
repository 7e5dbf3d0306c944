import { afterAll, expect, onTestFinished, test } from 'bun:test'
import { once } from 'node:events'
import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { folderInside } from '../../src/edge/container.ts'
import { pageAddress } from '../../src/edge/plan.ts'
import { drained } from '../../src/edge/sockets.ts'
import { gitExample } from '../support/tls.ts'
import { freePort } from '../support/free-port.ts'
import { aHost, anEdge, signal } from './caddy.ts'

const edge = await anEdge()

/** An app that speaks HTTP/2 without TLS alone, and echoes as gRPC does: each message at once, and a status at the end. */
const app = createServer()
  .on('stream', (stream, headers) => {
    if (headers['content-type'] !== 'application/grpc') {
      stream.respond({ ':status': 200 })
      return void stream.end(`HTTP/2 ${String(headers['x-forwarded-proto'])}`)
    }
    const head = { ':status': 200, 'content-type': 'application/grpc' }
    stream.respond(head, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.on('data', (message: Buffer) => void stream.write(`echo ${message.toString()}`))
    stream.on('end', () => void stream.end())
  })
  .listen(0, '127.0.0.1')
await once(app, 'listening')
const address = `127.0.0.1:${(app.address() as AddressInfo).port}`
afterAll(() => void app.close())
edge.slots('app', address)

const { cert: certificate, key } = gitExample
const https = { kind: 'own', redirect: false, certificate, key } as const
const host = aHost('git.example', { isH2c: true }, { https })

async function session(scheme: 'http' | 'https') {
  const session = connect(`${scheme}://127.0.0.1:${edge.ports[scheme]}`, {
    ...{ servername: 'git.example', rejectUnauthorized: false },
  })
  onTestFinished(() => session.destroy())
  await once(session, 'connect')
  return session
}

test.each(['https', 'http'] as const)(
  'an app that speaks HTTP/2 alone has calls in both directions, by %s',
  async (scheme) => {
    await edge.serve([host])
    const call = (await session(scheme)).request({
      ...{ ':method': 'POST', ':path': '/greeter/hello', ':authority': 'git.example' },
      ...{ ':scheme': scheme, 'content-type': 'application/grpc', te: 'trailers' },
    })
    const trailers = once(call, 'trailers')
    const head = once(call, 'response')
    const parts = call.setEncoding('utf8').iterator()
    for (const message of ['one', 'two']) {
      call.write(message) // each is answered before the next is sent
      expect((await parts.next()).value).toBe(`echo ${message}`)
    }
    call.end()
    expect((await parts.next()).done).toBe(true)
    expect((await head)[0]).toMatchObject({ ':status': 200, 'content-type': 'application/grpc' })
    expect((await trailers)[0]).toMatchObject({ 'grpc-status': '0' })
  },
)

test('it serves clients of HTTP/1.1, too', async () => {
  await edge.serve([host])
  expect(await (await edge.get('http://git.example/')).text()).toBe('HTTP/2 http')
  expect(await (await edge.get('https://git.example/')).text()).toBe('HTTP/2 https')
})

test('an address that is said to speak HTTP is asked by HTTP/1.1, and each path by its own', async () => {
  edge.slots(
    'other',
    edge.app(() => new Response('one')),
  )
  const sites = [
    { path: '/', target: { slots: 'other' } },
    { path: '/grpc', target: { slots: 'app' }, isH2c: true },
  ]
  await edge.serve([{ name: 'both.test', https: { kind: 'off' }, sites }, aHost('plain.test')])
  expect(await (await edge.get('http://both.test/')).text()).toBe('one')
  expect(await (await edge.get('http://both.test/grpc/x')).text()).toBe('HTTP/2 http')
  expect((await edge.get('http://plain.test/')).status).toBe(502)
})

test('it has the same pages, and instances that refuse are skipped', async () => {
  edge.slots('idle', pageAddress(folderInside, 'stopped'))
  edge.slots('half', `127.0.0.1:${freePort()}`, address)
  const target = (slots: string) => ({ target: { slots }, isH2c: true })
  await edge.serve([aHost('idle.test', target('idle')), aHost('half.test', target('half'))])
  const stopped = await edge.get('http://idle.test/')
  expect([stopped.status, await stopped.text()]).toEqual([503, expect.stringContaining('stopped')])
  for (let i = 0; i < 10; i++)
    expect(await (await edge.get('http://half.test/')).text()).toBe('HTTP/2 http')
})

test('no connection to an instance outlives its requests', async () => {
  await edge.serve([host])
  await (await edge.get('http://git.example/')).text()
  expect(await drained([address], { seconds: 10, signal })).toBe(true)
})
