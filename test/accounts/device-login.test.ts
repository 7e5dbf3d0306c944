import { expect, test } from 'bun:test'
import { deviceLogins, users } from '../../src/db/schema.ts'
import { hashPassword } from '../../src/accounts/passwords.ts'
import { tokenOf } from '../deployments/uploading.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import type { TestClient } from '../support/client.ts'

const password = 'a passphrase that ada knows'

async function waiting() {
  const { t, ada } = withAda(simulatedApp())
  const computer = t.logIn('computer@example.com') // its own login means nothing
  const started = await computer.post('/auth/device', { name: 'ada@laptop' })
  const { secret, code } = started.json as Record<'secret' | 'code', string>
  const take = async () => (await computer.post('/auth/device/token', { secret })).json
  const answer = (client: TestClient, body: Record<string, unknown> = { answer: 'allow' }) =>
    client.post('/settings/device', { code, ...body })
  return { t, ada, computer, started, secret, code, take, answer }
}

test('a login that is allowed gets a token once, of the user who allowed it', async () => {
  const { t, ada, started, secret, code, take, answer } = await waiting()
  expect(started.status).toBe(201)
  const [stored] = t.db.select().from(deviceLogins).all()
  expect(JSON.stringify(stored)).not.toContain(secret)
  expect(JSON.stringify(stored)).not.toContain(code)
  expect(await take()).toEqual({ token: null, email: null })

  const typed = code.toLowerCase().replaceAll('-', ' ')
  const page = await ada.page(`/settings/device?code=${encodeURIComponent(typed)}`)
  expect(page.text).toContain('ada@laptop')
  expect((await answer(ada)).status).toBe(200)
  const { token, email } = await take()
  expect(email).toBe(ada.user.email)
  const profile = await t.app.request('/settings/profile', {
    headers: { Authorization: `Bearer ${token}`, Accept: 'application/json' },
  })
  expect(((await profile.json()) as { email: string }).email).toBe(ada.user.email)

  expect(await take()).toMatchObject({ status: 404 })
  expect((await answer(ada)).json.errors[0].field).toBe('code')
  const root = t.logInAsAdmin()
  const [event] = (await root.get('/settings/audit?action=device.allowed')).json.items
  expect(event).toMatchObject({ action: 'device.allowed', object: { name: 'ada@laptop' } })
})

test('one that is refused, is too old, or whose user was disabled, gets none', async () => {
  const refused = await waiting()
  expect((await refused.answer(refused.ada, { answer: 'refuse' })).status).toBe(200)
  expect(await refused.take()).toMatchObject({ status: 404 })

  const old = await waiting()
  old.t.db.update(deviceLogins).set({ expiresAt: new Date() }).run()
  expect((await old.answer(old.ada)).status).toBe(422)
  expect(await old.take()).toMatchObject({ status: 404 })

  const disabled = await waiting()
  await disabled.answer(disabled.ada)
  disabled.t.db.update(users).set({ disabledAt: new Date() }).run()
  expect((await disabled.take()).token).toBeUndefined()
})

test('it takes the password of who has one, and no token', async () => {
  const { t, ada, computer, take, answer } = await waiting()
  t.db
    .update(users)
    .set({ passwordHash: await hashPassword(password) })
    .run()
  for (const currentPassword of [undefined, 'a wrong one']) {
    const { status, json } = await answer(ada, { answer: 'allow', currentPassword })
    expect([status, json.errors[0].field]).toEqual([422, 'currentPassword'])
  }
  const { code } = (await computer.post('/auth/device', { name: 'other' })).json
  const byToken = await t.app.request('/settings/device', {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${tokenOf(t, ada.user.id)}`,
      'Content-Type': 'application/json',
    },
    body: JSON.stringify({ code, answer: 'allow' }),
  })
  expect(byToken.status).toBe(403)
  expect((await take()).token).toBeNull()
  expect((await answer(ada, { answer: 'allow', currentPassword: password })).status).toBe(200)
  expect((await take()).token).toStartWith('dvt_')
})

test('a network has few logins that wait, and those that are too old are forgotten', async () => {
  const { t, computer } = await waiting()
  const start = async () => (await computer.post('/auth/device', { name: 'more' })).status
  const statuses = await Promise.all(Array.from({ length: 12 }, start))
  expect(statuses.filter((status) => status === 201)).toHaveLength(9)
  expect(statuses).toContain(429)
  t.db.update(deviceLogins).set({ expiresAt: new Date() }).run()
  expect(await start()).toBe(201)
  expect(t.db.select().from(deviceLogins).all()).toHaveLength(1)
  for (const name of ['', 'a\nb', 'x'.repeat(61)])
    expect((await computer.post('/auth/device', { name })).status).toBe(422)
})

test('only the first of two who allow it at once has it, and no one is told otherwise', async () => {
  const { t, ada, take, answer } = await waiting()
  const eve = t.logIn('eve@example.com')
  const passwordHash = await hashPassword(password) // which takes a while to compare
  t.db.update(users).set({ passwordHash }).run()
  const allow = { answer: 'allow', currentPassword: password }
  const statuses = (await Promise.all([answer(ada, allow), answer(eve, allow)])).map(
    ({ status }) => status,
  )
  expect(statuses.toSorted()).toEqual([200, 422])
  expect((await take()).email).toBe(statuses[0] === 200 ? ada.user.email : eve.user.email)
  const { items } = (await t.logInAsAdmin().get('/settings/audit?action=device.allowed')).json
  expect(items).toHaveLength(1)
  expect((await answer(eve, { answer: 'refuse' })).json.errors[0].field).toBe('code')
})

test('a new password ends what was allowed and isn’t taken yet', async () => {
  const { t, ada, take, answer } = await waiting()
  await answer(ada)
  const body = { password: 'another long passphrase', currentPassword: null }
  expect((await ada.put('/settings/password', body)).status).toBe(200)
  expect(await take()).toMatchObject({ status: 404 })
  expect(t.db.select().from(deviceLogins).all()).toEqual([])
})
