import { expect, test } from 'bun:test'
import { keepCertificates, setCertificate } from '../../src/domains/certificate-store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { testApp } from '../support/app.ts'

test('admins see how apps are reached, as a page and as JSON; members don’t', async () => {
  const t = testApp({ DAVIT_DOMAIN: 'apps.example.org' })
  expect((await t.logIn('ada@example.com').get('/settings/edge')).status).toBe(403)
  const admin = t.logInAsAdmin()
  expect((await admin.get('/settings/edge')).json).toEqual({
    setting: 'direct',
    mode: 'direct',
    ports: { http: 80, https: 443 },
    domain: 'apps.example.org',
    davit: null,
    caddy: null,
    trouble: null,
    leftOut: [],
    publicAddresses: [],
    troubled: [],
  })
  expect((await admin.page('/settings/edge')).text).toContain('each app is reached by its port')
})

test('they see why it is so, and what isn’t served, each with what to do', async () => {
  const t = testApp({ DAVIT_EDGE: 'auto' })
  const admin = t.logInAsAdmin()
  const stub = (values: object) =>
    Object.entries(values).forEach(([name, value]) =>
      Object.defineProperty(t.edge, name, { get: () => value, configurable: true }),
    )
  const off = new Failure('edge_direct', 'Domains are off, because nginx is there.', 'Stop it.')
  stub({ trouble: off })
  const { json } = await admin.get('/settings/edge')
  expect(json).toMatchObject({
    mode: 'direct',
    trouble: { message: off.message, hint: 'Stop it.' },
  })
  expect((await admin.page('/settings/edge')).text).toContain('Caddy isn’t running')

  const failure = new Failure('edge_port', 'Port 20001 is taken.', 'Choose another.')
  const rejected = [{ port: 20_001, failure }]
  stub({
    mode: 'caddy',
    isOn: true,
    trouble: failure,
    rejected,
    caddy: { version: '2.11.4', loadedAt: null },
  })
  expect((await admin.get('/settings/edge')).json).toMatchObject({
    mode: 'caddy',
    caddy: { version: '2.11.4' },
    trouble: null,
    leftOut: [{ host: null, port: 20_001, message: failure.message }],
  })
  const page = (await admin.page('/settings/edge')).text
  expect(page).toContain('Port 20001 isn’t served')
  expect(page).toContain('Choose another.')
})

test('names that were deleted need no attention, though their failures still count', async () => {
  const t = testApp({ DAVIT_DOMAIN: 'apps.example.org' })
  const admin = t.logInAsAdmin()
  const failed = ['apps.example.org', 'gone.test']
  keepCertificates(t.db, new Set(failed), new Date())
  for (const host of failed) setCertificate(t.db, host, { status: 'failed', errorMessage: 'No.' })
  const { json } = await admin.get('/settings/edge')
  expect(json.troubled).toMatchObject([{ host: 'apps.example.org' }])
})
