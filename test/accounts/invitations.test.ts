import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { getUserByEmail, insertUser } from '../../src/accounts/store.ts'
import { changeUser } from '../../src/admin/change-user.ts'
import { auditEvents, invites, users } from '../../src/db/schema.ts'
import { accountsApp, ada, bob, registered, Visitor } from './visitor.ts'

const emailsIn = ({ db }: ReturnType<typeof accountsApp>) =>
  db
    .select()
    .from(users)
    .all()
    .map(({ email }) => email)

afterEach(() => {
  setSystemTime()
})

describe('an invitation', () => {
  const inviting = { env: { DAVIT_REGISTRATION: 'invite', DAVIT_URL: 'https://davit.example' } }

  async function invite(admin: Visitor) {
    const response = await admin.json('/settings/invites')
    expect(response.status).toBe(201)
    return (await response.json()) as { id: string; url: string; expiresAt: string }
  }
  const tokenOf = ({ url }: { url: string }) => new URL(url).searchParams.get('invite')!

  test('is a link to the public address that lets one person register, once', async () => {
    const t = accountsApp(inviting)
    const { url } = await invite(await registered(t.app, ada))
    expect(url).toStartWith('https://davit.example/auth/register?invite=')
    const visitor = new Visitor(t.app)
    const page = await (await visitor.get(url)).text()
    const token = tokenOf({ url })
    expect(page).toContain(`name="invite" value="${token}"`)
    expect((await visitor.post('/auth/register', { ...bob, invite: token })).status).toBe(303)
    expect(await (await visitor.get('/dashboard')).json()).toMatchObject({ role: 'member' })

    const late = await new Visitor(t.app).json('/auth/register', {
      email: 'eve@example.com',
      password: bob.password,
      invite: token,
    })
    expect(late.status).toBe(403)
  })

  test('used by ten at once lets in one', async () => {
    const t = accountsApp(inviting)
    const token = tokenOf(await invite(await registered(t.app, ada)))
    const visitor = new Visitor(t.app)
    await visitor.token()
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        visitor.json('/auth/register', { ...bob, email: `u${i}@example.com`, invite: token }),
      ),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(emailsIn(t)).toHaveLength(2)
  })

  test.each([undefined, 'A'.repeat(43), "' OR 1=1 --"])('cannot be made up: %p', async (token) => {
    const t = accountsApp(inviting)
    await registered(t.app, ada)
    const visitor = new Visitor(t.app)
    const response = await visitor.json('/auth/register', { ...bob, invite: token })
    expect(response.status).toBe(403)
    const page = await visitor.get(`/auth/register?invite=${encodeURIComponent(token ?? '')}`)
    expect(await page.text()).not.toContain('Registration is closed') // it is by invitation
  })

  test('ends after 7 days', async () => {
    const t = accountsApp(inviting)
    const made = await invite(await registered(t.app, ada))
    setSystemTime(new Date(made.expiresAt))
    const response = await new Visitor(t.app).json('/auth/register', {
      ...bob,
      invite: tokenOf(made),
    })
    expect(response.status).toBe(403)
    expect(await response.text()).toContain('has expired')
  })

  test('that was taken back is none', async () => {
    const t = accountsApp(inviting)
    const admin = await registered(t.app, ada)
    const made = await invite(admin)
    expect((await admin.delete(`/settings/invites/${made.id}`)).status).toBe(200)
    expect((await admin.delete(`/settings/invites/${made.id}`)).status).toBe(404)
    const response = await new Visitor(t.app).json('/auth/register', {
      ...bob,
      invite: tokenOf(made),
    })
    expect(response.status).toBe(403)
  })

  test.each([{ role: 'member' as const }, { disabled: true }])(
    'of an admin who is changed to %p is none, now and when that is undone',
    async (change) => {
      const t = accountsApp(inviting)
      const admin = await registered(t.app, ada)
      const [used, open] = [tokenOf(await invite(admin)), tokenOf(await invite(admin))]
      await registered(t.app, bob, { invite: used })
      const by = insertUser(t.db, { email: 'root@example.com', role: 'admin' })
      const { id } = getUserByEmail(t.db, ada.email)!
      changeUser(t.db, { id, by, ...change })
      const enter = () =>
        new Visitor(t.app).json('/auth/register', {
          email: 'eve@example.com',
          password: bob.password,
          invite: open,
        })
      expect((await enter()).status).toBe(403)
      changeUser(t.db, { id, by, role: 'admin', disabled: false })
      expect((await enter()).status).toBe(403)
      expect(t.db.select().from(invites).all()).toMatchObject([{ usedAt: expect.any(Date) }])
    },
  )

  test('is recorded with who made it', async () => {
    const t = accountsApp(inviting)
    const token = tokenOf(await invite(await registered(t.app, ada)))
    await registered(t.app, bob, { invite: token })
    const recorded = t.db.select().from(auditEvents).all()
    expect(recorded.filter(({ action }) => action === 'user.registered')).toMatchObject([
      { actor: ada.email, details: {} },
      { actor: bob.email, details: { invited_by: ada.email } },
    ])
  })

  test('is shown once, its list never shows the link', async () => {
    const t = accountsApp(inviting)
    const admin = await registered(t.app, ada)
    const page = await (await admin.post('/settings/invites')).text()
    const link = /https:\/\/davit\.example\/auth\/register\?invite=[\w-]{43}/
    expect(page).toMatch(link)
    expect(await (await admin.get('/settings/invites')).text()).not.toMatch(link)
    const list = await (await admin.get('/settings/invites', { accept: 'application/json' })).json()
    expect(list).toEqual({
      items: [
        {
          id: expect.any(String),
          email: null,
          createdAt: expect.any(String),
          expiresAt: expect.any(String),
          mail: null,
        },
      ],
      nextCursor: null,
    })
  })

  test('is made by admins only, and only where it is of use', async () => {
    const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    const admin = await registered(t.app, ada)
    const member = await registered(t.app, bob)
    expect((await admin.json('/settings/invites')).status).toBe(409)
    expect((await member.json('/settings/invites')).status).toBe(403)
    expect((await member.get('/settings/invites')).status).toBe(403)
    expect((await member.delete('/settings/invites/x')).status).toBe(403)
    expect(await (await member.get('/settings/sessions')).text()).not.toContain('Invitations')
  })
})
