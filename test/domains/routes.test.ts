import { describe, expect, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { auditEvents, domains } from '../../src/db/schema.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { idle } from '../services/instances.ts'
import { testApp, withAda } from '../support/app.ts'

/** An environment of Ada's. */
async function aSite(env: Record<string, string> = {}) {
  const { t, ada } = withAda(testApp(env, { jobsWait: true }))
  const { id } = await anEnvironment(t, ada)
  const path = `/envs/${id}/domains`
  const add = (fields: Record<string, unknown>) => ada.post(path, fields)
  return { t, ada, id, path, add }
}

describe('a domain', () => {
  test('is added with a host alone, and leads to the environment', async () => {
    const { ada, id, path, add } = await aSite()
    const { status, json, headers } = await add({ host: 'App.Example.com.' })
    expect(status).toBe(201)
    expect(headers.get('Location')).toBe(`/domains/${json.id}`)
    expect(json).toEqual({
      id: expect.any(String),
      environmentId: id,
      serviceId: null,
      host: 'app.example.com',
      path: '/',
      url: 'http://app.example.com',
      target: null,
      protocol: 'http',
      redirectTo: null,
      https: 'auto',
      hsts: false,
      dns: { expected: [], found: [], ok: null, checkedAt: null },
      certificate: null,
      basicAuth: [],
      allowIps: [],
      headers: {},
      maxBody: null,
      maintenance: false,
      error: expect.objectContaining({ code: 'edge_direct' }),
      createdAt: expect.any(String),
    })
    expect((await ada.get(`/domains/${json.id}`)).json).toEqual(json)
    expect((await ada.get(path)).json).toEqual({ items: [json], nextCursor: null })
  })

  test('is changed field by field, and deleted', async () => {
    const { t, ada, path, add } = await aSite()
    const { id } = (await add({ host: 'app.example.com', maxBody: 10, maintenance: true })).json
    const changed = await ada.put(`/domains/${id}`, { path: '//api//v1/', maintenance: null })
    expect(changed.status).toBe(200)
    expect(changed.json).toMatchObject({ path: '/api/v1', maxBody: 10, maintenance: false })
    expect((await ada.delete(`/domains/${id}`)).json).toEqual({})
    expect((await ada.get(path)).json.items).toEqual([])
    const actions = t.db
      .select()
      .from(auditEvents)
      .all()
      .map(({ action }) => action)
    expect(actions.filter((action) => action.startsWith('domain.'))).toEqual([
      'domain.added',
      'domain.changed',
      'domain.deleted',
    ])
  })

  test('is a form’s as well, whose answer is the page that lists it', async () => {
    const { t, ada, path } = await aSite()
    const sent = {
      host: 'app.example.com',
      path: '',
      protocol: 'h2c',
      redirect_to: '',
      https: 'auto',
      hsts: '0',
      basic_auth: 'ada:one\nbob:t:wo',
      allow_ips: '203.0.113.0/24\n[::1]',
      headers: 'X-Robots-Tag: noindex\nX-Empty:',
      max_body: '20',
      maintenance: '0',
    }
    const made = await ada.form(path, sent)
    expect(made.status, made.text).toBe(303)
    expect(made.headers.get('Location')).toBe(path)
    const [item] = (await ada.get(path)).json.items
    expect(item).toMatchObject({
      basicAuth: [{ username: 'ada' }, { username: 'bob' }],
      allowIps: ['203.0.113.0/24', '::1'],
      headers: { 'X-Robots-Tag': 'noindex', 'X-Empty': '' },
      maxBody: 20,
      protocol: 'h2c',
    })
    expect(planOf(t).hosts[0]!.sites).toMatchObject([{ isH2c: true }])
    expect((await ada.page(path)).text).toContain('app.example.com')
    const again = await ada.htmx('PUT', `/domains/${item.id}`, { ...sent, basic_auth: 'bob' })
    expect(again.headers.get('HX-Redirect')).toBe(path)
    expect((await ada.get(`/domains/${item.id}`)).json.basicAuth).toEqual([{ username: 'bob' }])
  })

  test('keeps as many characters of headers by its form as it has', async () => {
    const { ada, add } = await aSite()
    const headers = { 'X-A': 'a'.repeat(4000), 'X-B': 'b'.repeat(3994) }
    const { id } = (await add({ host: 'app.example.com', headers })).json
    const lines = Object.entries(headers).map((pair) => pair.join(': '))
    const { status } = await ada.htmx('PUT', `/domains/${id}`, { headers: lines.join('\n') })
    expect(status).toBe(200)
    expect((await ada.get(`/domains/${id}`)).json.headers).toEqual(headers)
  })

  test('of a service leads to what it publishes first, or to the component that is named', async () => {
    const { ada } = await aSite()
    const compose = `
services:
  web: { ${idle}, ports: ['8080'] }
  mail: { ${idle}, ports: ['25/udp'] }`
    const service = (await ada.post('/services/compose', { name: 'shop', compose })).json
    const path = `/services/${service.id}/domains`
    const usual = await ada.post(path, { host: 'shop.example.com' })
    expect(usual.json).toMatchObject({ serviceId: service.id, target: 'web:8080' })
    const chosen = await ada.put(`/domains/${usual.json.id}`, { target: 'mail:8025' })
    expect(chosen.json.target).toBe('mail:8025')
    expect((await ada.put(`/domains/${usual.json.id}`, { target: null })).json.target).toBe(
      'web:8080',
    )
    for (const target of ['db:80', 'web', 'web:0', 'web:70000', 'mail:25', ':80'])
      expect((await ada.post(path, { host: 'b.example.com', target })).json.errors, target).toEqual(
        [{ field: 'target', message: expect.any(String) }],
      )
  })

  test('passwords are hashed, and never come back', async () => {
    const { t, ada, add } = await aSite()
    const { json, text } = await add({
      host: 'app.example.com',
      basicAuth: [{ username: 'ada', password: 'open sesame' }],
    })
    expect(text).not.toContain('sesame')
    const stored = () => t.db.select().from(domains).get()!.accounts
    const { hash } = stored()[0]!
    expect(await Bun.password.verify('open sesame', hash)).toBe(true)
    expect(text).not.toContain(hash)
    const path = `/domains/${json.id}`
    await ada.put(path, { basicAuth: [{ username: 'ada' }] })
    expect(stored()).toEqual([{ username: 'ada', hash }])
    const { status, json: problem } = await ada.put(path, { basicAuth: [{ username: 'bob' }] })
    expect(status).toBe(422)
    expect(problem.errors).toMatchObject([{ field: 'basicAuth' }])
    expect(stored()).toEqual([{ username: 'ada', hash }])
    await ada.put(path, { basicAuth: null })
    expect(stored()).toEqual([])
  })
})
