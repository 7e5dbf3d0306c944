import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { accountMailHandler } from '../../src/accounts/account-mail.ts'
import { auditEvents, invites, outbox, passwordResets, users } from '../../src/db/schema.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { refuse } from '../notifications/smtp-host.ts'
import { until } from '../support/until.ts'
import { mailing, withBob } from './mailing.ts'
import { ada, bob } from './visitor.ts'

const hour = 3_600_000

afterEach(() => {
  setSystemTime()
})

const password = 'a new staple for paper'

describe('a forgotten password', () => {
  test('is set by the link of a mail, once; all sessions end', async () => {
    const { t, own, link, visitor } = await withBob()
    const lost = visitor('203.0.113.9')
    const page = await (await lost.get('/login')).text()
    expect(page).toContain('href="/auth/forgotten"')
    expect((await lost.post('/auth/forgotten', { email: ' BOB@example.com ' })).status).toBe(200)
    const { to, path } = await link()
    expect(to).toEqual([bob.email])

    const reset = new URL(path, 'http://x').searchParams.get('reset')!
    expect(await (await lost.get(path)).text()).toContain(`name="reset" value="${reset}"`)
    const weak = await lost.post('/auth/password', { reset, password: 'password' })
    expect(weak.status).toBe(422)
    const set = await lost.post('/auth/password', { reset, password })
    expect([set.status, set.headers.get('Location')]).toEqual([303, '/login'])

    expect((await own.get('/dashboard')).status).toBe(303)
    expect((await lost.json('/auth/login', bob)).status).toBe(401)
    expect((await lost.json('/auth/login', { ...bob, password })).status).toBe(200)
    const [again, anew] = [
      await lost.json('/auth/password', { reset, password }),
      await lost.get(path),
    ]
    expect([again.status, anew.status]).toEqual([403, 403])
    const audit = t.db.select().from(auditEvents).all()
    const found = audit.filter(({ action }) => action === 'password.reset')
    expect(found).toMatchObject([
      { actor: bob.email, address: '203.0.113.9', objectName: bob.email },
    ])
    // neither the link nor its secret is stored
    const stored = JSON.stringify([t.db.select().from(passwordResets).all(), audit])
    expect(stored).not.toContain(reset)
  })

  test('of an unknown or disabled account gets the same response, and no mail', async () => {
    const { t, root, smtp, visitor } = await withBob()
    const ask = async (email: string) => {
      const response = await visitor().post('/auth/forgotten', { email })
      return [response.status, (await response.text()).replace(/[\w-]{40,}/g, '')]
    }
    const known = await ask(bob.email)
    await until(() => smtp.mails.length === 1)
    expect(await ask('eve@example.com')).toEqual(known)
    const { id } = t.db.select().from(users).where(eq(users.email, bob.email)).get()!
    await root.put(`/settings/users/${id}`, { disabled: true })
    expect(await ask(bob.email)).toEqual(known)
    await t.outbox.idle()
    expect(smtp.mails).toHaveLength(1)
    expect(t.db.select().from(outbox).all()).toEqual([])
  })

  test('is asked for only a few times, by anyone, for anyone', async () => {
    const { visitor } = await withBob()
    const ask = async (email: string) =>
      (await visitor(`203.0.113.${email.length}`).json('/auth/forgotten', { email })).status
    for (const email of [bob.email, 'none@example.com']) {
      const statuses = []
      for (let n = 0; n < 6; n++) statuses.push(await ask(email))
      expect(statuses).toEqual([200, 200, 200, 200, 200, 429])
    }
    // and the failures don't keep the owner out
    expect((await visitor().json('/auth/login', bob)).status).toBe(200)
  })

  test('has a link that ends after an hour, and with a new password or address', async () => {
    const { own, link, visitor } = await withBob()
    const ask = async (nth: number) => {
      await visitor().json('/auth/forgotten', { email: bob.email })
      return (await link(nth)).path
    }
    const isValid = async (path: string) => (await visitor().get(path)).status === 200
    const first = await ask(1)
    expect(await isValid(first)).toBe(true)
    const change = { currentPassword: bob.password, password }
    expect((await own.put('/settings/password', change)).status).toBe(200)
    expect(await isValid(first)).toBe(false)
    const second = await ask(2)
    await own.put('/settings/profile', { email: 'b@example.com', currentPassword: password })
    expect(await isValid(second)).toBe(false)
    await own.put('/settings/profile', { email: bob.email, currentPassword: password })
    const third = await ask(3)
    expect(await isValid(third)).toBe(true)
    setSystemTime(Date.now() + hour + 1000)
    expect(await isValid(third)).toBe(false)
  })

  test('that two ask to set at once is set by one', async () => {
    const { link, visitor } = await withBob()
    await visitor().json('/auth/forgotten', { email: bob.email })
    const reset = new URL((await link()).path, 'http://x').searchParams.get('reset')!
    const both = await Promise.all(
      [password, 'another one for paper'].map((password) =>
        visitor().json('/auth/password', { reset, password }),
      ),
    )
    expect(both.map(({ status }) => status).sort()).toEqual([200, 403])
  })

  test.each(['', 'x', 'A'.repeat(64), "' OR 1=1 --"])(
    'isn’t set by the made-up %p',
    async (reset) => {
      const { visitor } = await mailing()
      const { status } = await visitor().json('/auth/password', { reset, password })
      expect(status).toBe(reset === '' ? 422 : 403)
      expect(
        (await visitor().get(`/auth/password?reset=${encodeURIComponent(reset)}`)).status,
      ).toBe(403)
    },
  )

  test('is the operator’s matter where no channel sends mails', async () => {
    const { t, visitor } = await mailing({}, { hasChannel: false })
    expect(await (await visitor().get('/login')).text()).not.toContain('/auth/forgotten')
    expect((await visitor().json('/auth/forgotten', { email: ada.email })).status).toBe(409)
    expect(t.db.select().from(passwordResets).all()).toEqual([])
  })

  test('is mailed by a channel of an admin only, as long as they are one', async () => {
    const { t, root, channel, visitor } = await mailing()
    const refused = await t.logIn('eve@example.com').post('/settings/channels', channel)
    expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'accountMail'])
    const other = t.logInAsAdmin('other@example.com')
    expect((await other.put(`/settings/users/${root.user.id}`, { role: 'member' })).status).toBe(
      200,
    )
    expect((await visitor().json('/auth/forgotten', { email: ada.email })).status).toBe(409)
  })

  test('is sent again with the same link after greylisting, and after a kill', async () => {
    let tries = 0
    const greylists = (_: unknown, __: unknown, done: (error?: Error | null) => void) =>
      done(tries++ === 0 ? refuse(451, 'Greylisted') : null)
    const { t, smtp, link, visitor } = await withBob({ onRcptTo: greylists })
    await visitor().json('/auth/forgotten', { email: bob.email })
    await until(() => tries === 1 && t.db.select().from(outbox).get()?.status === 'waiting')
    expect(t.db.select().from(outbox).get()).toMatchObject({ kind: 'account_mail', tries: 1 })
    expect(smtp.mails).toEqual([])
    // what another process goes on with
    t.db.update(outbox).set({ status: 'sending', nextAt: null }).run()
    const next = new Outbox({ db: t.db, scheduler: t.scheduler })
    next.handle('account_mail', async () => accountMailHandler(t.deps))
    const stop = new AbortController()
    const running = next.run({ signal: stop.signal })
    const { path } = await link()
    expect((await visitor().get(path)).status).toBe(200)
    stop.abort()
    await running
  })

  test('offers no other link where no channel sends mails', async () => {
    for (const hasChannel of [true, false]) {
      const { visitor } = await mailing({}, { hasChannel })
      const page = await visitor().get('/auth/password?reset=used')
      expect(page.status).toBe(403)
      expect((await page.text()).includes('href="/auth/forgotten"')).toBe(hasChannel)
    }
  })
})

describe('an invitation', () => {
  test('is mailed to the address that the admin enters, and lets one person in', async () => {
    const { t, root, link, visitor } = await mailing()
    const made = await root.post('/settings/invites', { email: 'Bob@example.com' })
    expect(made.json).toMatchObject({ email: 'bob@example.com' })
    const { to, path } = await link()
    expect(to).toEqual(['bob@example.com'])
    expect(made.json.url).toBe(`https://davit.example.com${path}`)
    expect((await root.page('/settings/invites')).text).toContain('bob@example.com')
    const invite = new URL(made.json.url).searchParams.get('invite')!
    expect((await visitor().json('/auth/register', { ...bob, invite })).status).toBe(201)
    expect((await visitor().json('/auth/register', { ...ada, invite })).status).not.toBe(201)
    expect(JSON.stringify(t.db.select().from(invites).all())).not.toContain(invite)
  })

  test('that was revoked before it was sent isn’t mailed', async () => {
    const { t, root, smtp } = await mailing()
    const made = await root.post('/settings/invites', { email: bob.email })
    await root.delete(`/settings/invites/${made.json.id}`)
    await until(() => t.db.select().from(outbox).all().length === 0)
    expect(smtp.mails.length).toBeLessThanOrEqual(1)
  })

  test('has no address where no channel sends mails', async () => {
    const { root } = await mailing({}, { hasChannel: false })
    const refused = await root.post('/settings/invites', { email: bob.email })
    expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'email'])
    expect((await root.post('/settings/invites')).status).toBe(201)
  })
})
