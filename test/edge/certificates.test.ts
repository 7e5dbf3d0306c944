import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { servedCertificate } from '../../src/domains/certificate-ask.ts'
import { folderInside } from '../../src/edge/container.ts'
import { anIssuer } from '../domains/issuer.ts'
import { aHost, anEdge, signal } from './caddy.ts'
import { anAuthority } from './pebble.ts'

const edge = await anEdge()
const pebble = await anAuthority(edge.ports)
await Bun.write(join(edge.folder, 'authority.pem'), pebble.root)
const authority = {
  directory: pebble.directory,
  email: 'ada@example.com',
  root: `${folderInside}/authority.pem`,
}
edge.slots(
  'app',
  edge.app(() => new Response('app')),
)

const auto = { https: { kind: 'auto', mayAsk: true, redirect: true } } as const

/** The certificate that a name has; throws where there is none. */
async function certificateOf(name: string) {
  const ca = await pebble.ca()
  const { promise, resolve, reject } = Promise.withResolvers<{ issuer: string; until: Date }>()
  const options = { host: '127.0.0.1', port: edge.ports.https, servername: name, ca }
  const socket = connect(options, () => {
    const { issuer, valid_to } = socket.getPeerCertificate()
    resolve({ issuer: String(issuer.CN), until: new Date(valid_to) })
    socket.destroy()
  })
  socket.on('error', reject)
  return promise
}

test('a name has a certificate of the authority, and leads to it', async () => {
  await edge.serve([aHost('app.test', {}, auto)], { authority })
  const { issuer, until } = await certificateOf('app.test')
  expect(issuer).toStartWith('Pebble Intermediate CA')
  expect(until.getTime()).toBeGreaterThan(Date.now())
  const redirected = await edge.get('http://app.test/')
  expect(redirected.headers.get('Location')).toStartWith('https://app.test')
  expect(await (await edge.get('https://app.test/')).text()).toBe('app')
})

test('no certificate is asked for a name that no one has, or whose HTTPS is off', async () => {
  await edge.serve([aHost('app.test', {}, auto), aHost('off.test')], { authority })
  for (const name of ['nobody.test', 'off.test', '..', 'app.test.'])
    await expect(certificateOf(name)).rejects.toThrow()
})

test('only Caddy itself may ask whether a name may have a certificate', async () => {
  await edge.serve([aHost('app.test', {}, auto)], { authority })
  const path = 'davit/certificate?domain=app.test'
  expect((await edge.get(`http://127.0.0.1/${path}`)).status).toBe(200)
  expect((await edge.get(`http://127.0.0.1/${path}x`)).status).toBe(403)
  expect((await edge.get(`http://other.test/${path}`)).status).toBe(404)
})

const { issue } = anIssuer()

test.each([
  ['up.test', 'up.test'],
  ['a.up.test', '*.up.test'],
])('an uploaded certificate of %s takes the place of the requested one: %s', async (host, name) => {
  const issuer = async () =>
    (await servedCertificate(host, { port: edge.ports.https, signal }))?.issuer
  await edge.serve([aHost(host, {}, auto)], { authority })
  expect(await issuer()).toStartWith('Pebble')
  const { certificate, key } = await issue({ names: [name], subject: '/O=Ada' })
  const own = { https: { kind: 'own', redirect: true, certificate, key } } as const
  await edge.serve([aHost('app.test', {}, auto), aHost(host, {}, own)], { authority })
  expect(await issuer()).toBe('Ada')
  expect((await certificateOf('app.test')).issuer).toStartWith('Pebble')
  await edge.serve([aHost(host, {}, auto)], { authority })
  expect(await issuer()).toStartWith('Pebble')
})
