import { describe, expect, test } from 'bun:test'
import { planOf } from '../../src/addresses/plan.ts'
import { davitKey } from '../../src/edge/plan.ts'
import { Failure } from '../../src/platform/errors.ts'
import { limits } from '../../src/platform/limits.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { testApp, withAda } from '../support/app.ts'
import { aNameServer } from '../support/name-server.ts'
import { anIssuer } from './issuer.ts'

const { issue } = anIssuer()

async function aSite(overrides: Parameters<typeof testApp>[1] = {}, env = {}) {
  const { t, ada } = withAda(testApp(env, { jobsWait: true, ...overrides }))
  const environment = await anEnvironment(t, ada)
  const path = `/envs/${environment.id}/domains`
  const add = (fields: Record<string, unknown>) => ada.post(path, fields)
  const hosts = async (client = ada) => (await client.get(environment.path)).json.domains
  return { t, ada, environment, path, add, hosts }
}

test('a check looks the name up, and says where it leads', async () => {
  const server = await aNameServer({ 'a.test': ['192.5.5.241'] })
  const env = { DAVIT_PUBLIC_ADDRESS: '198.41.0.4' }
  const { t, ada, add } = await aSite({ nameServers: [server.address] }, env)
  const { id } = (await add({ host: 'a.test' })).json
  const before = { expected: ['198.41.0.4'], found: [], ok: null, checkedAt: null }
  expect((await ada.get(`/domains/${id}`)).json.dns).toEqual(before)
  const checked = await ada.post(`/domains/${id}/check`)
  expect(checked.status).toBe(200)
  expect(checked.json.dns).toMatchObject({ found: ['192.5.5.241'], ok: false })
  server.zone['a.test'] = ['198.41.0.4']
  expect((await ada.post(`/domains/${id}/check`)).json.dns).toMatchObject({ ok: true })
  const page = await ada.form(`/domains/${id}/check`, {})
  expect([page.status, page.headers.get('Location')]).toEqual([
    303,
    expect.stringMatching(/^\/envs/),
  ])
  const actions = t.db.$client.query("SELECT 1 FROM audit_events WHERE action = 'domain.checked'")
  expect(actions.all()).toHaveLength(3)
  server.stop()
})

describe('the list of an environment’s names', () => {
  test('sets them all; those that stay keep their options', async () => {
    const { ada, environment, path, add, hosts } = await aSite()
    await add({ host: 'a.test', maxBody: 5 })
    await add({ host: 'b.test' })
    await add({ host: 'a.test', path: '/x', maintenance: true })
    expect(await hosts()).toEqual(['a.test', 'b.test'])
    await ada.put(environment.path, { domains: ['c.test', 'A.test.'] })
    expect(await hosts()).toEqual(['c.test', 'a.test'])
    expect((await ada.get(path)).json.items).toMatchObject([
      { host: 'c.test' },
      { host: 'a.test', path: '/x', maintenance: true },
      { host: 'a.test', path: '/', maxBody: 5 },
    ])
    await ada.put(environment.path, { memoryMb: 64 })
    expect(await hosts()).toEqual(['c.test', 'a.test'])
    await ada.put(environment.path, { domains: null })
    expect((await ada.get(path)).json.items).toEqual([])
  })

  test('is all or nothing', async () => {
    const { t, ada, environment, add, hosts } = await aSite()
    const bob = t.logIn('bob@example.com')
    await bob.post(`/envs/${(await anEnvironment(t, bob)).id}/domains`, { host: 'his.test' })
    await add({ host: 'a.test' })
    const refused = await ada.put(environment.path, { domains: ['b.test', 'his.test'], cpus: 2 })
    expect(refused.status).toBe(409)
    expect(await hosts()).toEqual(['a.test'])
    expect((await ada.get(environment.path)).json.cpus).toBe(1)
    const form = await ada.htmx('PUT', environment.path, { domains: 'b.test\nhis.test' })
    expect(form.status).toBe(409)
    expect(form.text).toContain('id="field-domains-error"')
  })
})

describe('no one may have more than so many:', () => {
  test('of one environment', async () => {
    const { ada, environment, add } = await aSite()
    const domains = Array.from({ length: 50 }, (_, at) => `n${at}.test`)
    expect((await ada.put(environment.path, { domains })).status).toBe(200)
    const { status, json } = await add({ host: 'more.test' })
    expect([status, json.detail]).toEqual([409, expect.stringContaining('50 domains')])
    const list = await ada.put(environment.path, { domains: [...domains, 'more.test'] })
    expect(list.status).toBe(422)
  })

  test('over all', async () => {
    const { t, ada, environment, add } = await aSite()
    t.db.transaction(() => {
      const project = environment.projectId
      for (let at = 0; at < limits.domains - 1; at++) {
        if (at % 50 === 0)
          t.db.$client.run(
            'INSERT INTO environments (id, project_id, name, host_port, created_at) VALUES (?, ?, ?, ?, 0)',
            [`e${at / 50}`, project, `e${at}`, 1000 + at],
          )
        const holder = { environmentId: `e${Math.floor(at / 50)}` }
        t.db.$client.run(
          'INSERT INTO domains (id, environment_id, host, position, created_at) VALUES (?, ?, ?, 0, 0)',
          [`d${at}`, holder.environmentId, `n${at}.test`],
        )
      }
    })
    expect((await add({ host: 'last.test' })).status).toBe(201)
    const { status, json } = await add({ host: 'more.test' })
    expect([status, json.detail]).toEqual([409, expect.stringContaining('1000 domains')])
    const bob = t.logIn('bob@example.com')
    const his = (await anEnvironment(t, bob)).id
    expect((await bob.post(`/envs/${his}/domains`, { host: 'more.test' })).status).toBe(201)
    expect((await ada.get(environment.path)).json.domains).toEqual(['last.test'])
  })
})

test('the options of all domains of a user have a maximum length together', async () => {
  const { t, ada, environment, add } = await aSite()
  const value = 'x'.repeat(7000)
  const { json } = await add({ host: 'a.test', headers: { 'x-long': value } })
  t.db.$client.run('UPDATE domains SET headers = ?', [
    JSON.stringify({ 'x-long': 'x'.repeat(limits.domainSettings - 7000) }),
  ])
  const options = { headers: { 'x-long': value } }
  const refused = await add({ host: 'b.test', ...options })
  expect([refused.status, refused.json.detail]).toEqual([
    409,
    expect.stringContaining('1000000 characters'),
  ])
  expect((await ada.get(environment.path)).json.domains).toEqual(['a.test'])
  expect((await ada.put(`/domains/${json.id}`, options)).status).toBe(200)
  expect((await add({ host: 'b.test', ...options })).status).toBe(201)
})

test('what is taken over from a user comes with all of its addresses', async () => {
  const { t, ada, environment, add } = await aSite()
  const other = (await anEnvironment(t, ada)).id
  await add({ host: 'a.test' })
  const api = await ada.post(`/envs/${other}/domains`, { host: 'a.test', path: '/api' })
  const root = t.logInAsAdmin()
  const sent = await root.delete(`/settings/users/${ada.user.id}`, {
    heirId: root.user.id,
    confirm: ada.user.email,
  })
  expect(sent.status, sent.text).toBe(200)
  expect((await root.get(environment.path)).json.domains).toEqual(['a.test'])
  expect((await root.put(`/domains/${api.json.id}`, { path: '/v1' })).status).toBe(200)
  const mine = await root.post(`/envs/${other}/domains`, { host: 'a.test', path: '/v2' })
  expect(mine.status).toBe(201)
})

test('of what isn’t served, only its owner reads why', async () => {
  const { t, ada, add } = await aSite({ config: { acceptTimeout: 1 } }, { DAVIT_EDGE: 'auto' })
  const bob = t.logIn('bob@example.com')
  const his = (await anEnvironment(t, bob)).id
  const [mine, foreign] = [
    (await add({ host: 'a.test' })).json.id,
    (await bob.post(`/envs/${his}/domains`, { host: 'his.test' })).json.id,
  ]
  const failure = new Failure('edge_host', 'his.test isn’t served: secrets of bob', 'Check it.')
  Object.defineProperties(t.edge, {
    rejected: { value: [{ host: 'his.test', failure }] },
    trouble: { value: failure, configurable: true },
  })
  expect((await ada.get(`/domains/${mine}`)).json.error).toBeNull()
  expect((await bob.get(`/domains/${foreign}`)).json.error).toEqual({
    code: 'edge_host',
    message: failure.message,
    hint: failure.hint,
  })
  const off = new Failure('edge_direct', 'Domains and HTTPS are off.', 'Stop it.')
  Object.defineProperty(t.edge, 'trouble', { value: off, configurable: true })
  expect((await ada.get(`/domains/${mine}`)).json.error).toMatchObject({ code: 'edge_direct' })
})

test('what Caddy says of the whole configuration is for admins', async () => {
  const { t, ada, add } = await aSite({ config: { acceptTimeout: 1 } }, { DAVIT_EDGE: 'auto' })
  const { id, environmentId } = (await add({ host: 'a.test' })).json
  const trouble = new Failure('edge_refused', 'Caddy refused bob.test of /srv/bob.pem.', 'Look.')
  Object.defineProperties(t.edge, { rejected: { value: [] }, trouble: { value: trouble } })
  const { json } = await ada.get(`/domains/${id}`)
  expect(json.error.message).toBe('Caddy has a problem. Ask an admin to look at it.')
  const { text } = await ada.page(`/envs/${environmentId}/domains`)
  expect(text).toContain(json.error.message)
  expect(text).not.toContain('bob')
})

describe('the edge isn’t asked to serve', () => {
  test('a name that a setting has given to Davit meanwhile', async () => {
    const { t, ada, path, add } = await aSite()
    const { id } = (await add({ host: 'panel.test' })).json
    await add({ host: 'a.test' })
    Object.assign(t.config, { domain: 'panel.test' })
    const { hosts } = planOf(t)
    const davit = [{ path: '/', target: { slots: davitKey } }]
    expect(hosts.filter(({ name }) => name === 'panel.test')).toMatchObject([{ sites: davit }])
    expect(hosts.map(({ name }) => name)).toContain('a.test')
    const { error } = (await ada.get(`/domains/${id}`)).json
    expect(error).toMatchObject({ code: 'domain_of_davit' })
    expect((await ada.page(path)).text).toContain(error.message)
    expect((await ada.put(`/domains/${id}`, { host: 'b.test' })).status).toBe(200)
  })

  test('a host without its own certificate, whose key can’t be read', async () => {
    const { t, ada, add } = await aSite()
    const { certificate, key } = await issue({ names: ['a.test'] })
    const { id } = (await add({ host: 'a.test', https: 'own', certificate, key })).json
    await add({ host: 'b.test' })
    t.db.$client.run("UPDATE domains SET certificate_key = 'x' WHERE id = ?", [id])
    expect(planOf(t).hosts.map(({ name }) => name)).toEqual(['b.test'])
    expect((await ada.get(`/domains/${id}`)).json.error).toMatchObject({ code: 'key_unreadable' })
    const renamed = await ada.put(`/domains/${id}`, { host: 'c.test' })
    expect(renamed.json.errors).toMatchObject([{ field: 'certificate' }])
    expect((await ada.put(`/domains/${id}`, { certificate, key })).status).toBe(200)
    expect(planOf(t).hosts).toHaveLength(2)
  })
})
