import { describe, expect, test } from 'bun:test'
import { auditEvents, channels } from '../../src/db/schema.ts'
import { sealed } from '../../src/notifications/senders/index.ts'
import { unsealed } from '../../src/resources/store.ts'
import { asToken } from '../accounts/visitor.ts'
import { tokenOf } from '../deployments/uploading.ts'
import { testApp, withAda } from '../support/app.ts'
import { receiver } from './scene.ts'

const path = '/settings/channels'
const hook = (url: string, more: object = {}) => ({
  ...{ kind: 'webhook', name: 'ops', url, events: ['deployment_failed'] },
  ...more,
})

describe('a channel', () => {
  test('is made, changed and removed; its secret is shown once and stored sealed', async () => {
    const { t, ada } = withAda(testApp())
    const { url } = receiver()
    const made = await ada.post(path, hook(url, { quiet: '22:00-07:00', zone: 'Europe/Berlin' }))
    expect(made.status).toBe(201)
    expect(made.json).toMatchObject({ kind: 'webhook', url, quiet: '22:00-07:00', projects: null })
    expect(made.json.secret).toStartWith('whsec_')
    const one = `${path}/${made.json.id}`
    expect((await ada.get(one)).text).not.toContain('whsec_')
    const stored = () => t.db.select().from(channels).all()[0]!
    expect(stored().secret).not.toContain('whsec_')
    const changed = await ada.put(one, { events: ['crash_loop', 'unhealthy'], quiet: null })
    expect(changed.json).toMatchObject({ events: ['crash_loop', 'unhealthy'], quiet: null, url })
    expect(unsealed(t.secrets, { kind: 'channel', sealed }, stored()).secret).toBe(made.json.secret)
    const other = 'https://hooks.example.com/davit'
    expect((await ada.put(one, { url: other })).json.url).toBe(other) // a signature is no secret there
    expect((await ada.delete(one)).status).toBe(200)
    expect((await ada.get(path)).json.items).toEqual([])
    const said = t.db.select({ action: auditEvents.action }).from(auditEvents).all()
    expect(said.map(({ action }) => action)).toEqual([
      ...['channel.added', 'channel.changed', 'channel.changed', 'channel.removed'],
    ])
  })

  test('sends a test, says what the receiver answered, and promises no second one', async () => {
    const { ada } = withAda(testApp())
    const { url, received, at } = receiver()
    const { json } = await ada.post(path, hook(url))
    const test = () => ada.post(`${path}/${json.id}/test`)
    expect(await test()).toMatchObject({ status: 200, json: { answer: '200' } })
    expect(received[0]!.body.type).toBe('test')
    at.answer = () => new Response('no', { status: 500 })
    const refused = await test()
    expect(refused.status).toBe(502)
    expect(refused.text).toContain('500')
    expect(refused.text).not.toContain('Davit tries again')
  })

  test('keeps the secret that it signs with when that is null', async () => {
    const { t, ada } = withAda(testApp())
    const { url, received } = receiver()
    const { json } = await ada.post(path, hook(url))
    const one = `${path}/${json.id}`
    expect((await ada.put(one, { secret: null })).status).toBe(200)
    expect(await ada.post(`${one}/test`)).toMatchObject({ status: 200, json: { answer: '200' } })
    t.db.update(channels).set({ secret: null }).run()
    const without = await ada.post(`${one}/test`)
    expect(without.status).toBe(502)
    expect(without.text).toContain('signing secret')
    expect(received).toHaveLength(1)
    await ada.put(one, { secret: json.secret })
    expect((await ada.post(`${one}/test`)).status).toBe(200)
  })

  test('may be of no one else’s projects, and of the server only for admins', async () => {
    const { t, ada } = withAda(testApp())
    const root = t.logInAsAdmin()
    const { url } = receiver()
    const ofServer = hook(url, { events: ['disk_low'] })
    expect(await ada.post(path, ofServer)).toMatchObject({ status: 422 })
    expect(await root.post(path, ofServer)).toMatchObject({ status: 201 })
    const formFor = async (who: typeof ada) => (await who.page(`${path}/new`)).text
    expect(await formFor(root)).toContain('value="disk_low"')
    expect(await formFor(ada)).not.toMatch(/value="disk_low"|name="projects"/)
    const foreign = crypto.randomUUID()
    const refused = await ada.post(path, hook(url, { projects: [foreign] }))
    expect(refused).toMatchObject({
      status: 422,
      json: { errors: [{ field: 'projects' }] },
    })
    expect((await root.get(path)).json.items).toHaveLength(1)
    const { json } = await ada.post(path, hook(url))
    for (const call of [root.get(`${path}/${json.id}`), root.post(`${path}/${json.id}/test`)])
      expect((await call).status).toBe(404)
  })

  test('has each kind of event and each project once', async () => {
    const { ada } = withAda(testApp())
    const { url } = receiver()
    const repositoryUrl = 'https://git.example.com/team/site.git'
    const { id } = (await ada.post('/projects', { name: 'site', repositoryUrl })).json
    expect((await ada.page(`${path}/new`)).text).toContain(`value="${id}"`)
    const twice = { events: ['unhealthy', 'unhealthy'], projects: [id, id] }
    const once = { events: ['unhealthy'], projects: [id] }
    const made = await ada.post(path, hook(url, twice))
    expect(made.json).toMatchObject(once)
    const one = `${path}/${made.json.id}`
    expect((await ada.put(one, { ...twice, name: 'other' })).json).toMatchObject(once)
    expect((await ada.put(one, { projects: [] })).json.projects).toBeNull()
  })

  test('sends no token to another host than it was entered for', async () => {
    const { ada } = withAda(testApp())
    const { url } = receiver()
    const ntfy = { kind: 'ntfy', name: 'phone', url, topic: 'davit', token: 'tk_secret' }
    const { json } = await ada.post(path, { ...ntfy, events: ['unhealthy'] })
    const moved = await ada.put(`${path}/${json.id}`, { url: 'http://127.0.0.1:1' })
    expect(moved).toMatchObject({ status: 422, json: { errors: [{ field: 'token' }] } })
    expect((await ada.put(`${path}/${json.id}`, { topic: 'other' })).status).toBe(200)
  })

  test('that sends password resets is a matter of a person, not of a token', async () => {
    const t = testApp()
    const root = t.logInAsAdmin()
    const send = asToken(t.app, tokenOf(t, root.user.id))
    const mail = {
      ...{ kind: 'email', name: 'mail', events: ['unhealthy'], accountMail: true },
      ...{ host: 'smtp.example.com', port: 587, security: 'starttls', trust: 'authorities' },
      ...{ from: 'davit@example.com', to: ['ops@example.com'] },
    }
    const of = (body: object) => ({
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    })
    expect((await send('POST', path, of(mail))).status).toBe(403)
    expect((await send('POST', path, of({ ...mail, accountMail: false }))).status).toBe(201)
    const { json } = await root.post(path, { ...mail, name: 'resets' })
    for (const change of [{ host: 'smtp.example.org' }, { accountMail: false }])
      expect((await send('PUT', `${path}/${json.id}`, of(change))).status).toBe(403)
    expect((await send('DELETE', `${path}/${json.id}`)).status).toBe(403)
    expect((await root.get(`${path}/${json.id}`)).json.host).toBe('smtp.example.com')
    expect((await root.delete(`${path}/${json.id}`)).status).toBe(200)
    const [other] = (await root.get(path)).json.items
    expect((await send('DELETE', `${path}/${other.id}`)).status).toBe(200)
  })

  test('is refused with wrong fields', async () => {
    const { ada } = withAda(testApp())
    const { url } = receiver()
    const body = hook(url)
    const wrong: [string, unknown][] = [
      ['kind', 'pigeon'],
      ['events', []],
      ['events', ['birthday']],
      ['projects', ['all']],
      ['quiet', '22:00'],
      ['quiet', '24:00-07:00'],
      ['quiet', '07:00-07:00'],
      ['zone', 'Middle/Earth'],
      ['url', 'http://10.0.0.1/'],
      ['topic', 'not of a webhook'],
    ]
    for (const [field, value] of wrong) {
      const { status, json } = await ada.post(path, { ...body, [field]: value })
      expect([field, status, json.errors?.[0]?.field]).toEqual([field, 422, field])
    }
    expect((await ada.get(path)).json.items).toEqual([])
  })
})
