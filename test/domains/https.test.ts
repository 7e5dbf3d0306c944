import { describe, expect, test } from 'bun:test'
import { planOf, sealedAs } from '../../src/addresses/plan.ts'
import { setHostOptions } from '../../src/addresses/store.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { formsOf } from '../forms/page-forms.ts'
import { testApp, withAda } from '../support/app.ts'
import { contentsOf } from '../support/refusals.ts'
import { anIssuer } from './issuer.ts'

const { issue } = anIssuer()
const own = { https: 'own' }

async function aSite(env: Record<string, string> = {}) {
  const { t, ada } = withAda(testApp(env, { jobsWait: true, config: { acceptTimeout: 100 } }))
  const { id } = await anEnvironment(t, ada)
  const path = `/envs/${id}/domains`
  const add = (fields: Record<string, unknown>) => ada.post(path, fields)
  /** What the edge is to serve. */
  const host = (name: string) => planOf(t).hosts.find((one) => one.name === name)!
  return { t, ada, path, add, host }
}

describe('a certificate of the user’s own', () => {
  test('is served with its key, which never comes back', async () => {
    const { t, add, host } = await aSite()
    const { certificate, key } = await issue({ names: ['a.test', '*.a.test'], subject: '/O=Ada' })
    const { status, json, text } = await add({ host: 'a.test', ...own, certificate, key })
    expect(status, text).toBe(201)
    expect(json).toMatchObject({
      https: 'own',
      url: 'https://a.test',
      certificate: {
        issuer: 'Ada',
        notAfter: expect.any(String),
        status: 'issued',
        error: { message: expect.stringMatching(/self-signed/) },
      },
    })
    expect(text).not.toContain('BEGIN')
    expect(JSON.stringify(contentsOf(t))).not.toContain('PRIVATE KEY')
    const { https } = host('a.test')
    expect(https).toMatchObject({ kind: 'own', certificate })
    expect(JSON.stringify(https)).toContain('BEGIN PRIVATE KEY')
  })

  test('may come as files', async () => {
    const { ada, path, host } = await aSite()
    const { certificate, key } = await issue({ names: ['a.test'] })
    const body = new FormData()
    for (const [name, value] of Object.entries({ host: 'a.test', https: 'own' }))
      body.set(name, value)
    body.set('certificate', '')
    body.set('certificate_file', new File([certificate], 'a.pem'))
    body.set('key_file', new File([key], 'a.key'))
    const made = await ada.send(path, { method: 'POST', body, headers: { Accept: 'text/html' } })
    expect(made.status, await made.text()).toBe(303)
    expect(host('a.test').https).toMatchObject({ kind: 'own', certificate })
  })

  test('stays when its form comes without one, and is that of another name if it fits', async () => {
    const { ada, add, host } = await aSite()
    const { certificate, key } = await issue({ names: ['www.a.test', 'a.test'] })
    const { id } = (await add({ host: 'www.a.test', ...own, certificate, key })).json
    const before = host('www.a.test').https
    const form = { host: 'www.a.test', https: 'own', certificate: '', key: '', hsts: '1' }
    expect((await ada.htmx('PUT', `/domains/${id}`, form)).status).toBe(200)
    expect(host('www.a.test')).toMatchObject({ hsts: true, https: before })
    expect((await ada.put(`/domains/${id}`, { host: 'a.test' })).status).toBe(200)
    expect(host('a.test').https).toMatchObject({ kind: 'own', certificate })
    const refused = await ada.put(`/domains/${id}`, { host: 'c.test' })
    expect(refused.json.errors).toMatchObject([{ field: 'certificate' }])
    expect((await ada.put(`/domains/${id}`, { https: 'auto' })).json.https).toBe('auto')
    expect((await ada.put(`/domains/${id}`, own)).json.errors).toMatchObject([
      { field: 'certificate' },
    ])
  })

  test('is refused where it doesn’t fit, and what there was stays', async () => {
    const { t, ada, add } = await aSite()
    const good = await issue({ names: ['a.test'] })
    const other = await issue({ names: ['a.test'] })
    const elsewhere = await issue({ names: ['b.test'] })
    const { id } = (await add({ host: 'a.test', ...own, ...pairOf(good) })).json
    const before = contentsOf(t)
    const cases: [string, Record<string, unknown>][] = [
      ['key', { certificate: good.certificate }],
      ['certificate', { key: good.key }],
      ['key', { certificate: good.certificate, key: other.key }],
      ['certificate', pairOf(elsewhere)],
      ['certificate', { ...pairOf(good), certificate: 'no PEM' }],
      ['key', { ...pairOf(good), key: 'no PEM' }],
      ['certificate', { ...pairOf(good), https: 'auto' }],
      ['key', { ...pairOf(good), key: 'x'.repeat(20_000) }],
      ['hsts', { https: 'off', hsts: true }],
    ]
    for (const [field, fields] of cases) {
      const { status, json } = await ada.put(`/domains/${id}`, { ...own, ...fields })
      expect(status, JSON.stringify(json)).toBe(422)
      expect(json.errors, JSON.stringify(fields).slice(0, 60)).toMatchObject([{ field }])
    }
    expect(contentsOf(t)).toEqual(before)
  })
})

test('what is secret in a form isn’t shown again when that is refused', async () => {
  const { ada, path } = await aSite()
  const { key } = await issue()
  const form = { host: 'a.test', path: 'bad', key, basic_auth: 'ada:sesame\nbob:street' }
  for (const answer of [await ada.form(path, form), await ada.htmx('POST', path, form)]) {
    expect(answer.status).toBe(422)
    expect(answer.text).toMatch(/ada\s+bob/)
    for (const secret of ['sesame', 'street', key.split('\n')[1]!])
      expect(answer.text).not.toContain(secret)
    expect(complained(answer.text)).toEqual(['path', 'key', 'basic_auth'])
  }
})

test('what a refused form lost is asked for again, lest the former one stays unnoticed', async () => {
  const { ada, add } = await aSite()
  const { id } = (await add({ host: 'a.test', basicAuth: [{ username: 'ada', password: 'old' }] }))
    .json
  const body = new FormData()
  const form = { _method: 'PUT', host: 'a.test', redirect_to: 'bad', basic_auth: 'ada::new\nbob' }
  for (const [name, value] of Object.entries(form)) body.set(name, value)
  body.set('certificate_file', new File(['PEM'], 'a.pem'))
  const headers = { Accept: 'text/html' }
  const answer = await ada.send(`/domains/${id}`, { method: 'POST', body, headers })
  expect(answer.status).toBe(422)
  expect(complained(await answer.text())).toEqual(['redirect_to', 'certificate', 'basic_auth'])
  const kept = { host: 'a.test', redirect_to: 'bad', basic_auth: 'ada' }
  expect(complained((await ada.htmx('PUT', `/domains/${id}`, kept)).text)).toEqual(['redirect_to'])
})

/** The fields of a form that have an error. */
const complained = (html: string) =>
  [...html.matchAll(/id="field-(\w+)-error"/g)].map(([, name]) => name!)

test('all paths of a host have the same HTTPS', async () => {
  const { ada, add, host } = await aSite()
  const { certificate, key } = await issue({ names: ['a.test'] })
  const root = (await add({ host: 'a.test', ...own, certificate, key, hsts: true })).json
  const api = (await add({ host: 'a.test', path: '/api' })).json
  expect(api).toMatchObject({ https: 'own', hsts: true, url: 'https://a.test/api' })
  expect((await ada.put(`/domains/${api.id}`, { https: 'off' })).json.url).toBe('http://a.test/api')
  expect((await ada.get(`/domains/${root.id}`)).json).toMatchObject({ https: 'off', hsts: false })
  await ada.put(`/domains/${root.id}`, { ...own, certificate, key })
  await ada.delete(`/domains/${root.id}`)
  expect(host('a.test').https).toMatchObject({ kind: 'own', certificate })
  expect((await ada.put(`/domains/${api.id}`, { maintenance: true })).json.https).toBe('own')
})

describe('what no one chose in a form doesn’t reach the other paths of a host:', () => {
  /** A host with a certificate of its own, and what a browser sends of a form with what is typed into it. */
  async function aHostWithKey() {
    const site = await aSite()
    const { ada, add, host } = site
    await add({ host: 'a.test', ...own, ...pairOf(await issue({ names: ['a.test'] })), hsts: true })
    const before = host('a.test')
    async function send(page: string, typed: Record<string, string>) {
      const forms = await formsOf((await ada.page(page)).text, page)
      const { action, fields } = forms.find((form) => form.fields.some(isHost))!
      const sent = Object.fromEntries(fields.map(({ name, value }) => [name, value]))
      return (await ada.form(action, { ...sent, ...typed })).status
    }
    return { ...site, before, send }
  }

  const isHost = ({ name }: { name: string }) => name === 'host'

  test('that of a further path', async () => {
    const { path, host, before, send } = await aHostWithKey()
    expect(await send(`${path}/new`, { host: 'a.test', path: '/api' })).toBe(303)
    const { https, hsts, sites } = host('a.test')
    expect({ https, hsts, sites: sites.length }).toEqual({
      ...{ https: before.https, hsts: true, sites: 2 },
    })
  })

  test('that of a domain which gets the name', async () => {
    const { add, host, before, send } = await aHostWithKey()
    const { id } = (await add({ host: 'b.test', path: '/b' })).json
    expect(await send(`/domains/${id}`, { host: 'a.test' })).toBe(303)
    const { https, hsts, sites } = host('a.test')
    expect({ https, hsts, sites: sites.length }).toEqual({
      ...{ https: before.https, hsts: true, sites: 2 },
    })
  })

  test('but what someone chose does', async () => {
    const { ada, path, host, send } = await aHostWithKey()
    expect(await send(`${path}/new`, { host: 'a.test', path: '/api', https: 'off' })).toBe(303)
    expect(host('a.test')).toMatchObject({ https: { kind: 'off' }, hsts: false })
    const [{ id }] = (await ada.get(path)).json.items
    expect(await send(`/domains/${id}`, { host: 'a.test', https: 'auto', hsts: '1' })).toBe(303)
    expect(host('a.test')).toMatchObject({ https: { kind: 'auto' }, hsts: true })
    expect(await send(`/domains/${id}`, { host: 'a.test', hsts: '0' })).toBe(303)
    expect(host('a.test').hsts).toBe(false)
  })
})

const pairOf = ({ certificate, key }: { certificate: string; key: string }) => ({
  certificate,
  key,
})

test('none is taken where the user’s own Caddy serves, and one from before says that it isn’t used', async () => {
  const { t, ada, path, add } = await aSite({
    ...{ DAVIT_EDGE: 'external', DAVIT_EDGE_ADMIN: '/nowhere/admin.sock' },
  })
  const { certificate, key } = await issue({ names: ['a.test'] })
  const refused = await add({ host: 'a.test', ...own, certificate, key })
  expect(refused.status).toBe(422)
  expect(refused.json.errors).toMatchObject([
    { field: 'https', message: expect.stringContaining('DAVIT_EDGE=external') },
  ])
  expect((await ada.page(`${path}/new`)).text).not.toContain('name="certificate"')

  const { id } = (await add({ host: 'a.test' })).json
  setHostOptions(t.db, 'a.test', {
    ...{ https: 'own', hsts: false, certificate },
    certificateKey: t.secrets.seal(key, sealedAs('a.test')),
  })
  const { status, json } = await ada.put(`/domains/${id}`, { ...own, maintenance: true })
  expect(status).toBe(200)
  expect(json.certificate.error.message).toContain('doesn’t use the uploaded certificate')
  expect((await ada.put(`/domains/${id}`, { ...own, certificate, key })).status).toBe(422)
})
