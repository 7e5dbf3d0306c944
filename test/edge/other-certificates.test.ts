import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { servedCertificate } from '../../src/domains/certificate-ask.ts'
import { folderInside } from '../../src/edge/container.ts'
import { certificateFiles } from '../../src/runtime/edge-certificates.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'
import { aHost, anEdge } from './caddy.ts'
import { anApp, anOther, signal } from './other.ts'
import { anAuthority } from './pebble.ts'

const own = await anEdge()
const ports = { http: freePort(), https: freePort() }
const other = await anOther(
  {
    home: () => `127.0.0.1:${own.ports.http}`,
    readCertificates: () => certificateFiles(own.deps, { signal }),
  },
  ports,
)

/** It asks every name at the other edge, and what it issues ends soon. */
const pebble = await anAuthority({ http: ports.http, validity: 60 })
await Bun.write(join(own.folder, 'authority.pem'), pebble.root)
const authority = {
  directory: pebble.directory,
  email: null,
  root: `${folderInside}/authority.pem`,
}
const host = aHost('app.test', {}, { https: { kind: 'auto', mayAsk: true, redirect: true } })
const served = (port: number) => servedCertificate('app.test', { port, signal })

test('what only Davit’s own edge reaches is served by both, as if the visitor had come there', async () => {
  const far = anApp(({ headers }) => Response.json(headers.toJSON()))
  own.slots('far', far)
  const hosts = [aHost('far.test', { target: { slots: 'far' } })]
  other.others.look({ mayServe: true })
  other.others.route('far', null)
  await own.serve(hosts, other.others.tokens)
  await other.serve(hosts)
  const answer = await other.get('far.test', '/', { headers: { 'X-Forwarded-For': '6.6.6.6' } })
  const said = (await answer.json()) as Record<string, string>
  expect(said).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' })
  expect(said['davit-edge']).toBeUndefined()
  await own.serve(hosts) // the last edge was removed, but goes on
  const late = (await (await other.get('far.test')).json()) as Record<string, string>
  expect(late['davit-edge']).toBeUndefined()
  const forged = { 'X-Forwarded-For': '6.6.6.6', 'Davit-Edge': 'guessed' }
  const seen = await (await own.get('http://far.test/', { headers: forged })).json()
  expect(seen).toMatchObject({ 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' })
})

test('an edge has the certificates that Davit’s own got, by challenges that it passed on, and their renewals', async () => {
  const app = anApp(() => new Response('app'))
  own.slots('app', app)
  const look = async () => {
    other.others.serve({ ...plan, ...other.others.tokens }, { signal })
    await other.others.settled({ signal })
  }
  other.others.look({ mayServe: true })
  other.others.route('app', [app])
  const plan = { folder: folderInside, ports, hosts: [host], listeners: [], authority }
  await look()
  await until(async () => (await other.get('app.test').catch(() => null))?.status === 200)
  expect(await served(ports.https)).toBeNull() // and it asks for none

  await own.serve([host], { authority, ...other.others.tokens })
  const first = (await served(own.ports.https))!
  expect(first.issuer).toContain('Pebble')
  other.issued.set('app.test', first.notAfter.getTime())
  await look()
  expect(await served(ports.https)).toEqual(first)
  expect((await other.get('app.test')).headers.get('Location')).toBe(
    `https://app.test:${ports.https}/`,
  )

  let renewed = first
  await until(async () => {
    renewed = (await served(own.ports.https))!
    return renewed.notAfter > first.notAfter
  })
  other.issued.set('app.test', renewed.notAfter.getTime())
  await look()
  await until(async () => {
    const found = await served(ports.https)
    return found !== null && found.notAfter > first.notAfter
  })
}, 200_000)
