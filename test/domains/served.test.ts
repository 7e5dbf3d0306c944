import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { connectAdmin } from '../../src/edge/admin.ts'
import { edgeApp } from '../deployments/edge-app.ts'
import type { EdgeApp } from '../deployments/edge-app.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { until } from '../support/until.ts'
import { anIssuer } from './issuer.ts'

const { issue } = anIssuer()

/** What is in force, whole. */
const inForce = (t: EdgeApp) =>
  connectAdmin({ socket: join(t.dataDir, 'edge/admin.sock') }).read('config/', {
    signal: AbortSignal.timeout(10_000),
  })

const slotsOf = (t: EdgeApp) =>
  readdirSync(join(t.dataDir, 'edge/slots')).filter((name) => !name.startsWith('.'))

const logInTo = (t: EdgeApp, host: string, path: string) => async (password: string) => {
  const Authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`
  const response = await t.get(host, path, { headers: { Authorization } })
  await response.body?.cancel()
  return response.status
}

const compose = `
services:
  web:
    image: busybox
    command: [httpd, -f, -p, '8080', -h, /etc]
    init: true
    ports: ['8080']
  other:
    image: busybox
    command: [httpd, -f, -p, '81', -h, /bin]
    init: true
`

test('a domain of a service leads where its target says, with its options, until it is deleted', async () => {
  const t = await edgeApp()
  const ada = t.logIn('ada@example.com')
  const service = (await ada.post('/services/compose', { name: 'shop', compose })).json
  await t.jobs.idle()
  const path = `/services/${service.id}/domains`
  const { id } = (await ada.post(path, { host: 'shop.test' })).json
  expect((await ada.get(`/domains/${id}`)).json).toMatchObject({ error: null, target: 'web:8080' })
  expect(await t.text('shop.test', '/hostname')).not.toBe('')
  expect((await t.get('shop.test', '/busybox')).status).toBe(404)

  const changed = await ada.put(`/domains/${id}`, { target: 'other:81', headers: { 'X-A': '{b}' } })
  expect(changed.status).toBe(200)
  const file = await t.get('shop.test', '/busybox')
  expect([file.status, file.headers.get('X-A')]).toEqual([200, '{b}'])
  await file.body?.cancel()

  const basicAuth = [{ username: 'ada', password: 'pass: wörd' }]
  await ada.put(`/domains/${id}`, { basicAuth })
  expect((await t.get('shop.test', '/busybox')).status).toBe(401)
  const logIn = logInTo(t, 'shop.test', '/busybox')
  expect([await logIn('pass: wörd'), await logIn('pass: word')]).toEqual([200, 401])
  await ada.put(`/domains/${id}`, { basicAuth: null, maintenance: true })
  expect(await t.text('shop.test')).toContain('Down for maintenance')
  await ada.put(`/domains/${id}`, { allowIps: ['203.0.113.0/24'], maintenance: false })
  expect((await t.get('shop.test')).status).toBe(403)
  await ada.put(`/domains/${id}`, { redirectTo: 'https://example.com/a', allowIps: [] })
  expect((await t.get('shop.test', '/x?y')).headers.get('Location')).toBe(
    'https://example.com/a/x?y',
  )

  expect(slotsOf(t)).toContain(id)
  await ada.delete(`/domains/${id}`)
  expect((await t.get('shop.test')).status).toBe(404)
  await t.edge.sync()
  await until(() => !slotsOf(t).includes(id))
})

test('what is refused changes nothing that is served', async () => {
  const t = await edgeApp()
  const ada = t.logIn('ada@example.com')
  const environment = await anEnvironment(t, ada)
  const path = `/envs/${environment.id}/domains`
  const { certificate, key } = await issue({ names: ['b.test'] })
  const { id } = (await ada.post(path, { host: 'a.test', headers: { 'X-A': 'b' } })).json
  const own = { https: 'own', certificate, key }
  const before = await inForce(t)
  const refused: Record<string, unknown>[] = [
    { host: '*.test' },
    { host: '127.0.0.1' },
    { host: 'b.test', path: '/{http.vars.x}' },
    { host: 'b.test', headers: { 'X-A': 'b\r\nX-B: c' } },
    { host: 'b.test', headers: { Connection: 'close' } },
    { host: 'b.test', allowIps: ['10.0.0.0/33'] },
    { host: 'b.test', redirectTo: 'https://b.test/x' },
    { host: 'c.test', ...own },
    { host: 'b.test', ...own, key: (await issue()).key },
    { host: 'b.test', ...own, certificate: certificate.slice(0, 200) },
    { host: 'b.test', maxBody: 0 },
    { host: 'b.test', basicAuth: [{ username: 'ada' }] },
  ]
  for (const fields of refused)
    for (const answer of [await ada.post(path, fields), await ada.put(`/domains/${id}`, fields)])
      expect([409, 422], JSON.stringify(fields)).toContain(answer.status)
  await t.edge.sync()
  expect(await inForce(t)).toEqual(before)
  expect((await t.get('a.test')).status).toBe(503)
  expect((await ada.get(`/domains/${id}`)).json.error).toBeNull()
})

test('a host of an app asks for its password, and is free again when its environment was deleted', async () => {
  const t = await edgeApp()
  const [ada, bob] = [t.logIn('ada@example.com'), t.logIn('bob@example.com')]
  const environment = await anEnvironment(t, ada)
  const his = `/envs/${(await anEnvironment(t, bob)).id}/domains`
  const basicAuth = [{ username: 'ada', password: 'sesame' }]
  await ada.post(`/envs/${environment.id}/domains`, { host: 'a.test', basicAuth })
  expect((await t.get('a.test')).status).toBe(401)
  const logIn = logInTo(t, 'a.test', '/')
  expect([await logIn('sesame'), await logIn('other')]).toEqual([503, 401]) // it has no version yet
  expect((await bob.post(his, { host: 'a.test' })).status).toBe(409)
  await ada.delete(`/projects/${environment.projectId}`)
  await until(async () => (await t.get('a.test')).status === 404)
  expect((await bob.post(his, { host: 'a.test', maintenance: true })).status).toBe(201)
  expect(await t.text('a.test')).toContain('Down for maintenance')
  await t.edge.sync()
  await until(() => !slotsOf(t).includes(environment.id))
})
