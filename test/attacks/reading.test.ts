import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { services } from '../../src/db/schema.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'
import { everything } from '../support/everything.ts'
import type { Ids } from '../support/everything.ts'
import { contentsOf } from '../support/refusals.ts'
import { addressOf, routesOf } from './walk.ts'

const clients = {
  browser: { Accept: 'text/html' },
  partial: { Accept: 'text/html', 'HX-Request': 'true' },
  program: { Accept: 'application/json' },
}

/**
 * What a client, or a proxy that passes on too much, says of where Davit is and of itself. With a foreign
 * `Host` it would read nothing: that is refused.
 */
const lies = {
  Origin: 'https://evil.example',
  Forwarded: 'host=evil.example;proto=https',
  'X-Forwarded-Host': 'evil.example',
  'X-Forwarded-Server': 'evil.example',
  'X-Original-URL': 'https://evil.example/',
  'X-Rewrite-URL': '/settings/users',
}

/** Every GET there is, by every kind of client. */
async function* readings(t: TestApp, client: Pick<TestClient, 'send'>, ids: Ids) {
  for (const route of routesOf(t).filter(({ method }) => method === 'GET'))
    for (const [kind, headers] of Object.entries(clients)) {
      const sent = { headers: { ...lies, ...headers } }
      const answer = await client.send(addressOf(route, ids), sent)
      expect(answer.status, route.route).not.toBe(421)
      yield { route: route.route, what: `${route.route} for a ${kind}`, answer }
    }
}

const rowsOf = ({ db, logDb }: TestApp) => [
  contentsOf({ db }),
  db.$client.query('SELECT id, user_id, token_hash, expires_at FROM sessions').all(),
  logDb.$client.query('SELECT * FROM output_blocks').all(),
]

/** Where the reading itself is what has to be written down. */
const noted = ['GET /services/:id{[a-f0-9-]{36}}/secrets']

test('to read changes nothing, whatever is read', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  let before = rowsOf(t)
  for await (const { route, what, answer } of readings(t, ada, ids)) {
    await answer.body?.cancel()
    if (noted.includes(route)) before = rowsOf(t)
    else expect(rowsOf(t), what).toEqual(before)
  }
})

test('every answer keeps others out, and takes no word of a request for where Davit is', async () => {
  const t = testApp({ DAVIT_URL: 'https://davit.example.com' })
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  let pages = 0
  for await (const { what, answer } of readings(t, ada, ids)) {
    const { headers } = answer
    const all = [...headers].join('\n')
    expect(all, what).not.toContain('evil.example')
    expect(all, what).not.toContain('access-control')
    expect(headers.get('X-Content-Type-Options'), what).toBe('nosniff')
    expect(headers.get('Strict-Transport-Security'), what).toBe('max-age=31536000')
    const type = headers.get('Content-Type') ?? ''
    if (type.includes('event-stream') || !/html|json/.test(type)) {
      await answer.body?.cancel() // a stream would not end
      continue
    }
    expect(await answer.text(), what).not.toContain('evil.example')
    expect(headers.get('Cache-Control'), what).toContain('no-store')
    if (!type.includes('html')) continue
    pages++
    const policy = headers.get('Content-Security-Policy')!
    expect(policy, what).toContain("default-src 'self'")
    expect(policy, what).toContain("frame-ancestors 'none'")
    expect(policy, what).not.toContain('unsafe')
    expect(headers.get('Referrer-Policy'), what).toBe('same-origin')
  }
  expect(pages).toBeGreaterThan(100)
})

test('a token that only reads sees no secret that someone wrote into a Compose file, whatever it reads', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  const ids = await everything(t, ada)
  const compose = `services:
  cache:
    image: busybox
    command: [redis-server, --requirepass, literal-one]
    environment: {PASSWORD: literal-two, URL: "postgres://u:literal-three@db"}
    labels: {key: "\${KEY:-literal-four}"}`
  const asked = { allowed: ['cache host_path /etc/hostname'], allowedBy: ada.user.id }
  const given = { compose, ...asked }
  t.db.update(services).set(given).where(eq(services.id, ids.service)).run()
  const { json } = await ada.post('/settings/tokens', { name: 'ci', scopes: ['read'] })
  const send: TestClient['send'] = async (path, { headers } = {}) =>
    t.app.request(path, { headers: { ...headers, Authorization: `Bearer ${json.token}` } })
  for await (const { what, answer } of readings(t, { send }, ids)) {
    const isStream = answer.headers.get('Content-Type')?.includes('event-stream')
    if (isStream) await answer.body?.cancel()
    else expect(await answer.text(), what).not.toContain('literal-')
  }
  const details = await send(`/containers/${ids.container}`, { headers: clients.program })
  expect(await details.json()).toMatchObject({ command: null, labels: null })
  const edit = await send(`/services/${ids.service}/edit`, { headers: clients.program })
  expect(edit.status).toBe(403)
  expect((await ada.get(`/services/${ids.service}/edit`)).status).toBe(200)
  expect((await ada.page('/settings/grants')).text).toContain('literal-one')
})
