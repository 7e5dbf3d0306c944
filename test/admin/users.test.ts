import { describe, expect, test } from 'bun:test'
import { getUserByEmail, insertUser } from '../../src/accounts/store.ts'
import { changeUser } from '../../src/admin/change-user.ts'
import { projects, users } from '../../src/db/schema.ts'
import { ada, asToken, bob, registered, Visitor } from '../accounts/visitor.ts'
import { testApp } from '../support/app.ts'

const isIn = async (visitor: Visitor) => (await visitor.get('/dashboard')).status === 200

/** Ada, the admin, and Bob, a member with a project and a token. */
async function withBob() {
  const t = testApp({ DAVIT_REGISTRATION: 'open' })
  const admin = await registered(t.app, ada)
  const member = await registered(t.app, bob)
  const wanted = { name: 'ci', scopes: ['read'], currentPassword: bob.password }
  const made = await member.json('/settings/tokens', wanted)
  const { token } = (await made.json()) as { token: string }
  const idOf = (email: string) => getUserByEmail(t.db, email)!.id
  return { ...t, admin, member, adaId: idOf(ada.email), bobId: idOf(bob.email), token }
}

type TestApp = Awaited<ReturnType<typeof withBob>>

const addProject = ({ db }: TestApp, ownerId: string, name: string) =>
  db
    .insert(projects)
    .values({ ownerId, name, repositoryUrl: 'https://git.example.com/a/b.git', webhookSecret: '' })
    .returning()
    .get()

const rowOf = ({ db }: TestApp, email: string) => getUserByEmail(db, email)

describe('the list of users', () => {
  test('has everyone, newest first, and in pages', async () => {
    const t = await withBob()
    addProject(t, t.bobId, 'site')
    const list = async (query: string) =>
      (await (
        await t.admin.get(`/settings/users${query}`, { accept: 'application/json' })
      ).json()) as { items: object[]; nextCursor: string | null; registration: string }
    const { items, registration } = await list('')
    expect(items).toEqual([
      {
        id: t.bobId,
        email: bob.email,
        name: null,
        role: 'member',
        disabledAt: null,
        deleting: false,
        createdAt: expect.any(String),
        projects: 1,
        services: 0,
      },
      expect.objectContaining({ email: ada.email, role: 'admin', projects: 0 }),
    ])
    expect(registration).toBe('open')
    const first = await list('?limit=1')
    const second = await list(`?limit=1&cursor=${first.nextCursor}`)
    expect([first.items, second.items, second.nextCursor]).toMatchObject([
      [{ email: bob.email }],
      [{ email: ada.email }],
      null,
    ])
  })

  test('says how registration is set, and how to change it', async () => {
    const page = await (await (await withBob()).admin.get('/settings/users')).text()
    expect(page).toContain('Registration is open')
    expect(page).toContain('DAVIT_REGISTRATION')
    expect(page).not.toContain('Invite user')
  })

  test('leads to the invitations where they work', async () => {
    const { app } = testApp({ DAVIT_REGISTRATION: 'invite' })
    const page = await (await (await registered(app, ada)).get('/settings/users')).text()
    expect(page).toContain('href="/settings/invites"')
    expect(page).toContain('Invite user')
  })

  test('never has a hash in it', async () => {
    const { admin, db } = await withBob()
    for (const accept of ['application/json', 'text/html'])
      expect(await (await admin.get('/settings/users', { accept })).text()).not.toContain('argon2')
    expect(db.select().from(users).get()!.passwordHash).toContain('argon2')
  })

  test('offers an admin nothing to do to their own account', async () => {
    const { admin, adaId, bobId } = await withBob()
    const page = await (await admin.get('/settings/users')).text()
    expect(page).toContain(`/settings/users/${bobId}`)
    expect(page).not.toContain(`/settings/users/${adaId}`)
  })
})

test.each([
  ['GET', ''],
  ['PUT', '/:id'],
  ['DELETE', '/:id'],
  ['GET', '/:id/delete'],
])('a member may not %s /settings/users%s', async (method, path) => {
  const { member, bobId, adaId } = await withBob()
  for (const id of [bobId, adaId, 'x']) {
    const answer = await member.htmx(method, `/settings/users${path.replace(':id', id)}`, {
      role: 'admin',
    })
    expect(answer.status).toBe(403)
  }
})

describe('a user who is disabled', () => {
  test('is out at once: sessions, tokens, and the login', async () => {
    const t = await withBob()
    const answer = await t.admin.put(`/settings/users/${t.bobId}`, { disabled: true })
    expect(await answer.json()).toMatchObject({ email: bob.email, disabledAt: expect.any(String) })
    expect(await isIn(t.member)).toBe(false)
    expect((await asToken(t.app, t.token)('GET', '/dashboard')).status).toBe(401)
    const login = await new Visitor(t.app).json('/auth/login', bob)
    expect(login.status).toBe(403)
    expect(await login.json()).toMatchObject({ detail: expect.stringContaining('disabled') })
    expect(login.headers.getSetCookie().join()).not.toContain('svc_session')
    const wrong = await new Visitor(t.app).json('/auth/login', { ...bob, password: 'a wrong one' })
    expect(wrong.status).toBe(401)
  })

  test('comes back enabled, and finds no old session or token', async () => {
    const t = await withBob()
    await t.admin.put(`/settings/users/${t.bobId}`, { disabled: true })
    await t.admin.put(`/settings/users/${t.bobId}`, { disabled: false })
    expect(await isIn(t.member)).toBe(false)
    expect((await asToken(t.app, t.token)('GET', '/dashboard')).status).toBe(401)
    expect((await new Visitor(t.app).json('/auth/login', bob)).status).toBe(200)
  })

  test('has no use of a session that was made meanwhile', async () => {
    const t = await withBob()
    t.db.update(users).set({ disabledAt: new Date() }).run()
    expect(await isIn(t.member)).toBe(false)
  })

  test('is marked in the list that htmx gets', async () => {
    const t = await withBob()
    const answer = await t.admin.htmx('PUT', `/settings/users/${t.bobId}`, { disabled: '1' })
    const html = await answer.text()
    expect(html).toStartWith('<section id="users"')
    expect(html).toMatch(/disabled[^]*Enable/)
  })
})

describe('a role', () => {
  test('is given and taken', async () => {
    const t = await withBob()
    const set = (role: string) => t.admin.put(`/settings/users/${t.bobId}`, { role })
    await set('admin')
    expect((await t.member.get('/settings/users')).status).toBe(200)
    await set('member')
    expect((await t.member.get('/settings/users')).status).toBe(403)
    expect((await set('owner')).status).toBe(422)
  })

  test('and account stay when an admin means their own', async () => {
    const t = await withBob()
    await t.admin.put(`/settings/users/${t.bobId}`, { role: 'admin' })
    const path = `/settings/users/${t.adaId}`
    const answers = [
      await t.admin.put(path, { role: 'member' }),
      await t.admin.put(path, { disabled: true }),
      await t.admin.delete(path),
    ]
    expect(answers.map(({ status }) => status)).toEqual([409, 409, 409])
    expect(rowOf(t, ada.email)).toMatchObject({ role: 'admin', disabledAt: null })
  })

  test.each([{ role: 'member' as const }, { disabled: true }])(
    'of two admins who do %p to each other at once one remains',
    async (change) => {
      const t = await withBob()
      t.db.update(users).set({ role: 'admin' }).run()
      const [a, b] = [rowOf(t, ada.email)!, rowOf(t, bob.email)!]
      changeUser(t.db, { id: b.id, by: a, ...change })
      expect(() => changeUser(t.db, { id: a.id, by: b, ...change })).toThrow('Only an admin')
      expect(rowOf(t, ada.email)).toMatchObject({ role: 'admin', disabledAt: null })
    },
  )

  test('of no one is not there', async () => {
    const { admin } = await withBob()
    const path = `/settings/users/${Bun.randomUUIDv7()}`
    expect((await admin.put(path, { role: 'admin' })).status).toBe(404)
    expect((await admin.delete(path)).status).toBe(404)
    expect((await admin.get(`${path}/delete`)).status).toBe(404)
  })
})

test('a user who is deleted is never the only one who can log in as an admin', async () => {
  const t = await withBob()
  const carol = insertUser(t.db, { email: 'c@d.example', role: 'admin', disabledAt: new Date() })
  expect((await t.admin.delete(`/settings/users/${carol.id}`)).status).toBe(200)
  expect((await t.admin.delete(`/settings/users/${t.adaId}`)).status).toBe(409)
})
