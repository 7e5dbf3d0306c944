import { expect, test } from 'bun:test'
import { request } from 'node:http'
import { readAccessLine } from '../../src/edge/access-log.ts'
import { readAccessLog } from '../../src/edge/access-tail.ts'
import { gitExample } from '../support/tls.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { aHost, anEdge } from './caddy.ts'

const edge = await anEdge()
edge.slots(
  'app',
  edge.app((request) => Response.json(Object.fromEntries(request.headers))),
)

/** What an app gets of headers that are sent exactly so. */
async function seen(headers: Record<string, string | string[]>, port = edge.ports.http) {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const sent = request({ port, host: '127.0.0.1', headers: { Host: 'app.test', ...headers } })
  sent.on('error', reject).on('response', async (response) => {
    resolve(Buffer.concat(await response.toArray()))
  })
  sent.end()
  return JSON.parse((await promise).toString()) as Record<string, string>
}

const ofEdge = {
  'x-forwarded-for': '127.0.0.1',
  'x-forwarded-proto': 'http',
  'x-forwarded-host': 'app.test',
  'x-real-ip': '127.0.0.1',
}

/** By kind, in the spellings that frameworks read. */
const claims = {
  address: [
    ...['X-Forwarded-For', 'X-Real-IP', 'Forwarded', 'True-Client-IP', 'CF-Connecting-IP'],
    ...['CF-Connecting-IPv6', 'Fastly-Client-IP', 'X-Client-IP', 'X-Cluster-Client-IP'],
    ...['Fly-Client-IP', 'X-Azure-ClientIP', 'X-Appengine-User-IP', 'X-Originating-IP'],
    ...['X-Envoy-External-Address', 'CloudFront-Viewer-Address', 'X-Original-Forwarded-For'],
    ...[
      'Client_IP',
      'X_Real_IP',
      'X_Forwarded_For',
      'X-Forwarded_For',
      'X_Forwarded-For',
      'X.Real.IP',
    ],
    ...['WL-Proxy-Client-IP', 'Forwarded-For', 'X-Forwarded', 'X-Remote-Addr'],
  ],
  scheme: [
    ...['X-Forwarded-Proto', 'X-Forwarded-Ssl', 'X-Forwarded-Scheme', 'X-Forwarded-Protocol'],
    ...['X-Scheme', 'X-Url-Scheme', 'Front-End-Https', 'X-ARR-SSL', 'CF-Visitor'],
  ],
  host: [
    ...['X-Forwarded-Host', 'X-Forwarded-Server', 'X-Forwarded-Port', 'X-Host', 'X-Original-Host'],
    ...['X-HTTP-Host-Override', 'X_Forwarded_Host'],
  ],
  path: [
    ...['X-Forwarded-Prefix', 'X-Forwarded-Path', 'X-Forwarded-Uri', 'X-Original-URL'],
    ...['X-Original-URI', 'X-Rewrite-URL', 'X-Script-Name', 'X-Envoy-Original-Path'],
    ...['X_Original_URL', 'X-Original_URL', 'X-Forwarded-Method'],
  ],
  others: ['Proxy', 'X-Sendfile-Type', 'X-Accel-Mapping', 'HTTP2-Settings'],
}
const logins = [
  ...['X-Forwarded-User', 'X-Forwarded-Email', 'Remote-User', 'X-Remote-User', 'X-WebAuth-User'],
  ...['X-Auth-Request-Email', 'X-Forwarded-Client-Cert', 'X-SSL-Client-Verify', 'SSL-Client-Cert'],
]

test('a visitor writes nothing that only a proxy knows', async () => {
  await edge.serve([aHost('app.test')])
  const forged = [...Object.values(claims).flat(), ...logins]
  const headers = Object.fromEntries(
    forged.flatMap((name) => [
      [name, '6.6.6.6'] as const,
      [name.toUpperCase(), '6.6.6.7'] as const,
    ]),
  )
  const got = await seen(headers)
  expect(got).toMatchObject(ofEdge)
  expect(Object.entries(got).filter(([, value]) => /6\.6\.6/.test(value))).toEqual([])
})

test('a visitor removes nothing that the edge writes', async () => {
  await edge.serve([aHost('app.test')])
  const Connection = 'close, X-Forwarded-For, X-Real-IP, X-Forwarded-Proto, X-Forwarded-Host'
  expect(await seen({ Connection })).toMatchObject(ofEdge)
  expect(await seen({ Connection: 'x-rex-real-ipal-ip' })).toMatchObject(ofEdge)
})

test('an app’s own headers pass', async () => {
  await edge.serve([aHost('app.test')])
  const own = {
    'x-http-method-override': 'PATCH',
    'x-requested-with': 'fetch',
    'x-request-id': 'a',
    'x-original-filename': 'a.txt',
    traceparent: '00-a-b-01',
    authorization: 'Bearer a',
    'cf-access-jwt-assertion': 'signed',
  }
  expect(await seen(own)).toMatchObject(own)
})

test('a port of the edge says the same', async () => {
  const port = freePort()
  await edge.serve([aHost('app.test')], {
    listeners: [{ address: '127.0.0.1', port, slots: 'app' }],
  })
  const got = await seen({ 'X-Real-IP': '6.6.6.6', 'X-Forwarded-For': '6.6.6.6' }, port)
  expect(got).toMatchObject(ofEdge)
})

test('a host that has just been added says the same', async () => {
  await edge.serve([aHost('app.test')])
  edge.find(aHost('new.test'))
  const got = await seen({ Host: 'new.test', 'X-Real-IP': '6.6.6.6', Forwarded: 'for=6.6.6.6' })
  expect(got).toMatchObject({ ...ofEdge, 'x-forwarded-host': 'new.test' })
  expect(got).not.toHaveProperty('forwarded')
})

const trustedProxies = ['127.0.0.1', '10.0.0.0/8', '2001:db8:5::/48']

test.each<[string | string[], string]>([
  ['203.0.113.9', '203.0.113.9'],
  // what stands left of the visitor was sent by the visitor
  ['6.6.6.6, 203.0.113.9', '203.0.113.9'],
  ['6.6.6.6, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
  [['6.6.6.6', '203.0.113.9, 2001:db8:5::1'], '203.0.113.9'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['2001:db8::9', '2001:db8::9'],
  ['::ffff:203.0.113.9', '203.0.113.9'], // as Node writes it
  ['<script>', '127.0.0.1'],
  ['10.1.2.3', '127.0.0.1'],
])('behind a trusted proxy, %p is the visitor %s', async (sent, visitor) => {
  await edge.serve([aHost('app.test')], { trustedProxies })
  const got = await seen({
    'X-Forwarded-For': sent,
    'X-Real-IP': '6.6.6.6',
    'CF-Connecting-IP': '6.6.6.6',
    'X-Forwarded-Host': 'evil.test',
    'X-Original-URL': '/admin',
    'X-Forwarded-User': 'ada',
  })
  expect(got).toMatchObject({
    'x-forwarded-for': visitor,
    'x-real-ip': visitor,
    'x-forwarded-host': 'app.test',
    'x-forwarded-user': 'ada', // of a proxy that logs people in
  })
  for (const name of ['cf-connecting-ip', 'x-original-url']) expect(got).not.toHaveProperty(name)
})

test('a trusted proxy that ends TLS has its visitors served as by HTTPS', async () => {
  const { cert: certificate, key } = gitExample
  const https = { kind: 'own', redirect: true, certificate, key } as const
  await edge.serve([aHost('git.example', {}, { https, hsts: true })], { trustedProxies })
  const ask = (proto?: string, address = 'http://git.example/a') =>
    edge.get(address, proto === undefined ? {} : { headers: { 'X-Forwarded-Proto': proto } })
  for (const proto of ['https', 'HTTPS', 'wss', 'https, http']) {
    const response = await ask(proto)
    expect([proto, response.status]).toEqual([proto, 200])
    expect(response.headers.get('Strict-Transport-Security')).toBe('max-age=31536000')
    expect(await response.json()).toMatchObject({ 'x-forwarded-proto': 'https' })
  }
  for (const proto of ['http', undefined, 'ftp', 'httpsx', '']) {
    const response = await ask(proto)
    expect([proto, response.status]).toEqual([proto, 308])
  }
  // it may use HTTPS itself, for a visitor who doesn't
  expect((await ask('http', 'https://git.example/a')).status).toBe(308)
  expect((await ask(undefined, 'https://git.example/a')).status).toBe(200)
})

test('allowed ranges and the log have the visitor of a trusted proxy', async () => {
  const allowed = aHost('app.test', { allow: ['203.0.113.0/24'] })
  const statusOf = async (visitor: string) =>
    (await edge.get('http://app.test/', { headers: { 'X-Forwarded-For': visitor } })).status
  await edge.serve([allowed], { trustedProxies })
  expect(await statusOf('203.0.113.9')).toBe(200)
  expect(await statusOf('::ffff:203.0.113.9')).toBe(200)
  expect(await statusOf('198.51.100.7')).toBe(403)
  expect(await statusOf('203.0.113.9, 198.51.100.7')).toBe(403)
  const clients = async () =>
    (await readAccessLog(edge.folder, null)).lines.map((line) => readAccessLine(line)?.client)
  await until(async () => (await clients()).includes('198.51.100.7'))
  expect(await clients()).toContain('203.0.113.9')
  await edge.serve([allowed])
  expect(await statusOf('203.0.113.9')).toBe(403)
})
