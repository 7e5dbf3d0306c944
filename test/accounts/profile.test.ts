import { describe, expect, test } from 'bun:test'
import { sessions, users } from '../../src/db/schema.ts'
import { accountsApp, ada, asToken, bob, registered, Visitor } from './visitor.ts'

const isIn = async (visitor: Visitor) => (await visitor.get('/dashboard')).status === 200
const canLogIn = async (app: Visitor['app'], fields: typeof ada) =>
  (await new Visitor(app).json('/auth/login', fields)).status === 200

/** Ada at two browsers, and Bob. */
async function withAda() {
  const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
  const phone = await registered(t.app, ada)
  const stranger = await registered(t.app, bob)
  const visitor = new Visitor(t.app)
  await visitor.json('/auth/login', ada)
  return { ...t, visitor, phone, stranger }
}

const currentPassword = ada.password
const password = 'a new horse for the battery'

describe('the profile', () => {
  test('is shown to all three clients', async () => {
    const { visitor } = await withAda()
    const json = await visitor.get('/settings/profile', { accept: 'application/json' })
    expect(await json.json()).toMatchObject({ email: ada.email, name: null, role: 'admin' })
    expect(await (await visitor.get('/settings/profile')).text()).toStartWith('<!DOCTYPE html>')
    const partial = await (await visitor.htmx('GET', '/settings/profile')).text()
    expect(partial).toContain('hx-post="/settings/password"')
    expect(partial).not.toContain('<html')
  })

  test('takes a new e-mail address and name', async () => {
    const { visitor, app } = await withAda()
    const body = { email: ' Ada@Lovelace.example', name: 'Ada', currentPassword }
    const response = await visitor.put('/settings/profile', body)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ email: 'ada@lovelace.example', name: 'Ada' })
    expect(await canLogIn(app, ada)).toBe(false)
    expect(await canLogIn(app, { ...ada, email: 'ada@lovelace.example' })).toBe(true)
  })

  test('takes a name without the password, and shows it in place of the address', async () => {
    const { visitor } = await withAda()
    const saved = await visitor.put('/settings/profile', { email: ada.email, name: 'Ada Lovelace' })
    expect(saved.status).toBe(200)
    expect(await saved.json()).toMatchObject({ name: 'Ada Lovelace' })
    const wrong = { name: 'Eve', currentPassword: 'not the password' }
    expect((await visitor.put('/settings/profile', wrong)).status).toBe(422)
    expect((await visitor.put('/settings/profile', { email: 'new@example.com' })).status).toBe(422)
    const html = await (await visitor.get('/settings/audit')).text()
    expect(html).toContain(`<bdi title="${ada.email}">Ada Lovelace`)
    expect(html).toContain('<strong>Ada Lovelace</strong>')
  })

  test('changes what is sent, and null clears', async () => {
    const { visitor } = await withAda()
    await visitor.put('/settings/profile', { name: 'Ada', currentPassword })
    const kept = await visitor.put('/settings/profile', { email: 'a@b.example', currentPassword })
    expect(await kept.json()).toMatchObject({ email: 'a@b.example', name: 'Ada' })
    const cleared = await visitor.put('/settings/profile', { name: null, currentPassword })
    expect(await cleared.json()).toMatchObject({ email: 'a@b.example', name: null })
  })

  test('ends the other sessions with a new e-mail address, not with a new name', async () => {
    const { visitor, phone, stranger } = await withAda()
    await visitor.put('/settings/profile', { email: ada.email, name: 'Ada', currentPassword })
    expect(await isIn(phone)).toBe(true)
    await visitor.put('/settings/profile', { email: 'new@example.com', currentPassword })
    expect([await isIn(phone), await isIn(visitor), await isIn(stranger)]).toEqual([
      false,
      true,
      true,
    ])
  })

  test('refuses an address that has an account, in whatever case', async () => {
    const { visitor } = await withAda()
    const body = { email: 'BOB@example.com', currentPassword }
    const response = await visitor.put('/settings/profile', body)
    expect(response.status).toBe(409)
    expect(await response.json()).toMatchObject({ errors: [{ field: 'email' }] })
    const fields = { email: bob.email, current_password: currentPassword }
    const form = await visitor.htmx('PUT', '/settings/profile', fields)
    expect(form.status).toBe(409)
    expect(await form.text()).toMatch(/^<form id="profile-form"[^]*field-email-error/)
  })

  test.each([
    [{ email: 'x' }, 'email'],
    [{ email: null }, 'email'],
    [{ email: `${'x'.repeat(260)}@example.com` }, 'email'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 7 }, 'name'],
  ])('refuses %p', async (fields, field) => {
    const { visitor } = await withAda()
    const response = await visitor.put('/settings/profile', { ...fields, currentPassword })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ errors: [{ field }] })
  })

  test('takes no role, id or other field of the user along', async () => {
    const { stranger, db } = await withAda()
    const body = {
      name: 'Bob',
      role: 'admin',
      id: 'x',
      disabledAt: 1,
      currentPassword: bob.password,
    }
    expect((await stranger.put('/settings/profile', body)).status).toBe(200)
    const row = db
      .select()
      .from(users)
      .all()
      .find(({ email }) => email === bob.email)
    expect(row).toMatchObject({ name: 'Bob', role: 'member', disabledAt: null })
  })

  test('moves htmx on to the page that says it is saved', async () => {
    const { visitor } = await withAda()
    const fields = { email: ada.email, name: 'Ada', current_password: currentPassword }
    const response = await visitor.htmx('PUT', '/settings/profile', fields)
    const page = response.headers.get('HX-Redirect')!
    expect(page).toBe('/settings/profile')
    expect(await (await visitor.get(page)).text()).toContain('<span>Profile saved.</span>')
  })

  test('shows the user’s own last events, and no one else’s', async () => {
    const { visitor, stranger, app } = await withAda()
    await new Visitor(app, '203.0.113.77').json('/auth/login', { ...ada, password: 'a wrong one' })
    const own = await (await visitor.get('/settings/profile')).text()
    expect(own).toContain('failed to log in')
    expect(own).toContain('203.0.113.77')
    const other = await (await stranger.get('/settings/profile')).text()
    expect(other).toContain('registered')
    expect(other).not.toContain(ada.email)
  })
})

describe.each(['/settings/profile', '/settings/password'])('PUT %s', (path) => {
  const body = { email: 'new@example.com', password }

  test.each([
    [undefined],
    [null],
    [''],
    ['not the password'],
    [ada.password.toUpperCase()],
    [` ${ada.password}`],
    [{}],
    ['x'.repeat(5000)],
  ])('with the current password %p is refused and changes nothing', async (wrong) => {
    const { visitor, phone, db } = await withAda()
    const before = db.select().from(users).all()
    const response = await visitor.put(path, { ...body, currentPassword: wrong })
    expect(response.status).toBe(422)
    expect(await response.json()).toMatchObject({ errors: [{ field: 'currentPassword' }] })
    expect(db.select().from(users).all()).toEqual(before)
    expect(await isIn(phone)).toBe(true)
  })

  test('lets no one guess for long, and a stranger’s failed logins count apart', async () => {
    const { visitor, app } = await withAda()
    for (let i = 0; i < 5; i++)
      await new Visitor(app).json('/auth/login', { ...ada, password: `guess ${i}` })
    expect((await new Visitor(app).json('/auth/login', ada)).status).toBe(429)
    for (let i = 0; i < 5; i++) {
      const answer = await visitor.put(path, { ...body, currentPassword: `guess ${i}` })
      expect(answer.status).toBe(422)
    }
    const held = await visitor.put(path, { ...body, currentPassword })
    expect([held.status, held.headers.has('Retry-After')]).toEqual([429, true])
  })

  test('never draws a password again', async () => {
    const { visitor } = await withAda()
    const fields = { email: 'x', password: 'short', current_password: 'typed before' }
    const response = await visitor.htmx('PUT', path, fields)
    const html = await response.text()
    expect(response.status).toBe(422)
    expect(html).toStartWith('<form')
    expect(html).not.toContain('typed before')
    expect(html).not.toContain('"short"')
  })

  test('of someone who only logs in with a provider needs no password', async () => {
    const { visitor, db, app } = await withAda()
    db.update(users).set({ passwordHash: null }).run()
    const page = await (await visitor.get('/settings/profile')).text()
    expect(page).not.toContain('current_password')
    expect((await visitor.put(path, body)).status).toBe(200)
    if (path === '/settings/password')
      expect(await canLogIn(app, { email: ada.email, password })).toBe(true)
  })

  test('is for who is logged in', async () => {
    const { app } = await withAda()
    expect((await new Visitor(app).put(path, { ...body, currentPassword })).status).toBe(401)
  })
})

describe('a new password', () => {
  test('is the one that counts', async () => {
    const { visitor, app, db } = await withAda()
    const response = await visitor.put('/settings/password', { currentPassword, password })
    expect(response.status).toBe(200)
    expect(await canLogIn(app, ada)).toBe(false)
    expect(await canLogIn(app, { email: ada.email, password })).toBe(true)
    expect(Buffer.from(db.$client.serialize()).toString('latin1')).not.toContain(password)
  })

  test('ends all other sessions, and gives the current one a new token', async () => {
    const { visitor, phone, stranger, app, db } = await withAda()
    const copy = new Visitor(app)
    copy.cookies.set('svc_session', visitor.cookies.get('svc_session')!)
    const csrf = visitor.cookies.get('svc_csrf')
    await visitor.put('/settings/password', { currentPassword, password })
    const logins = [visitor, copy, phone, stranger]
    expect(await Promise.all(logins.map(isIn))).toEqual([true, false, false, true])
    expect(visitor.cookies.get('svc_csrf')).not.toBe(csrf)
    expect((await visitor.delete('/settings/sessions')).status).toBe(200)
    expect(db.select().from(sessions).all()).toHaveLength(2)
  })

  test('leaves API tokens: scripts go on', async () => {
    const { visitor, app } = await withAda()
    const wanted = { name: 'ci', scopes: ['read'], currentPassword }
    const made = await visitor.json('/settings/tokens', wanted)
    const { token } = (await made.json()) as { token: string }
    await visitor.put('/settings/password', { currentPassword, password })
    expect((await asToken(app, token)('GET', '/dashboard')).status).toBe(200)
  })

  test.each([[undefined], ['1234567'], ['x'.repeat(257)], ['password1'], ['nul\0nul\0nul'], [7]])(
    'that is %p is refused',
    async (bad) => {
      const { visitor, app } = await withAda()
      const response = await visitor.put('/settings/password', { currentPassword, password: bad })
      expect(response.status).toBe(422)
      expect(await response.json()).toMatchObject({ errors: [{ field: 'password' }] })
      expect(await canLogIn(app, ada)).toBe(true)
    },
  )

  test('moves htmx on to the page that says so', async () => {
    const { visitor } = await withAda()
    const fields = { current_password: currentPassword, password }
    const response = await visitor.htmx('PUT', '/settings/password', fields)
    const page = response.headers.get('HX-Redirect')!
    expect(await (await visitor.get(page)).text()).toContain('Your other sessions were ended')
  })
})
