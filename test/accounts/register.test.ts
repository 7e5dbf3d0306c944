import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { users } from '../../src/db/schema.ts'
import { accountsApp, ada, bob, registered, Visitor } from './visitor.ts'

const emailsIn = ({ db }: ReturnType<typeof accountsApp>) =>
  db
    .select()
    .from(users)
    .all()
    .map(({ email }) => email)

const errorsOf = async (response: Response) =>
  ((await response.json()) as { errors: { field: string; message: string }[] }).errors

afterEach(() => {
  setSystemTime()
})

describe('the first account', () => {
  test('is where the first visitor is led', async () => {
    const visitor = new Visitor(accountsApp().app)
    const login = await visitor.get('/login')
    expect([login.status, login.headers.get('Location')]).toEqual([303, '/auth/register'])
    const page = await (await visitor.get('/auth/register')).text()
    expect(page).toContain('Set up Davit')
    expect(page).not.toContain('setup_code')
  })

  test('is the admin and logged in, a program gets the user', async () => {
    const visitor = new Visitor(accountsApp().app)
    const response = await visitor.json('/auth/register', { ...ada, name: 'Ada' })
    expect([response.status, response.headers.get('Location')]).toEqual([201, '/settings/profile'])
    const user = await response.json()
    expect(user).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      email: ada.email,
      name: 'Ada',
      role: 'admin',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const { createdAt: _, ...known } = user as Record<string, unknown>
    expect(await (await visitor.get('/dashboard')).json()).toEqual(known)
  })

  test('sends a browser on to the dashboard', async () => {
    const visitor = new Visitor(accountsApp().app)
    const response = await visitor.post('/auth/register', { ...ada, name: '' })
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/dashboard'])
    expect((await visitor.get('/dashboard')).status).toBe(200)
  })

  test('is exactly one of a hundred made at once', async () => {
    const t = accountsApp()
    const visitor = new Visitor(t.app)
    await visitor.token()
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        visitor.json('/auth/register', { email: `u${i}@example.com`, password: ada.password }),
      ),
    )
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array.from({ length: 99 }, () => 403)])
    expect(emailsIn(t)).toHaveLength(1)
  })
})

describe('the setup code', () => {
  const setupCode = 'ABCD-EFGH-IJKL-MN23'

  test.each([undefined, '', 'ABCD-EFGH-IJKL-MN22'])(
    '%p is refused, the form comes again',
    async (code) => {
      const t = accountsApp({ setupCode })
      const visitor = new Visitor(t.app)
      const response = await visitor.post('/auth/register', {
        ...ada,
        ...(code !== undefined && { setup_code: code }),
      })
      expect(response.status).toBe(403)
      const page = await response.text()
      expect(page).toContain('isn’t the one that Davit printed')
      expect(page).toContain(`value="${ada.email}"`)
      expect(page).not.toContain(ada.password)
      expect(emailsIn(t)).toEqual([])
    },
  )

  test.each([setupCode, ' abcdefghijklmn23 '])('%p lets in', async (setup_code) => {
    const visitor = new Visitor(accountsApp({ setupCode }).app)
    expect((await visitor.post('/auth/register', { ...ada, setup_code })).status).toBe(303)
  })

  test('can’t be guessed at: the sixth try waits, were it the right one', async () => {
    const t = accountsApp({ setupCode })
    const visitor = new Visitor(t.app)
    for (let i = 0; i < 5; i++)
      expect((await visitor.json('/auth/register', { ...ada, setupCode: 'AAAA' })).status).toBe(403)
    const response = await visitor.json('/auth/register', { ...ada, setupCode })
    expect(response.status).toBe(429)
    expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(800)
    expect(emailsIn(t)).toEqual([])
  })

  test('is wanted for the first account only', async () => {
    const t = accountsApp({ setupCode, env: { DAVIT_REGISTRATION: 'open' } })
    await registered(t.app, ada, { setupCode })
    await registered(t.app, bob)
    expect(emailsIn(t)).toEqual([ada.email, bob.email])
  })
})

describe('registration', () => {
  test('is closed after the first account, and the page says why', async () => {
    const t = accountsApp()
    await registered(t.app, ada)
    const visitor = new Visitor(t.app)
    for (const response of [
      await visitor.get('/auth/register'),
      await visitor.post('/auth/register', bob),
    ]) {
      expect(response.status).toBe(403)
      const page = await response.text()
      expect(page).toContain('Registration is closed. Anyone with an account here can use Docker')
      expect(page).not.toContain('name="password"')
    }
    const problem = await visitor.json('/auth/register', bob)
    expect(problem.status).toBe(403)
    expect(problem.headers.get('Content-Type')).toBe('application/problem+json')
    expect(emailsIn(t)).toEqual([ada.email])
  })

  test('that is open makes members', async () => {
    const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    await registered(t.app, ada)
    const visitor = await registered(t.app, bob)
    expect(await (await visitor.get('/dashboard')).json()).toMatchObject({ role: 'member' })
  })

  test('of an e-mail that has an account is refused on its field, in any case of letters', async () => {
    const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    await registered(t.app, ada)
    const visitor = new Visitor(t.app)
    const fields = { email: ' ADA@Example.COM', password: bob.password }
    const problem = await visitor.json('/auth/register', fields)
    expect(problem.status).toBe(409)
    expect(await errorsOf(problem)).toMatchObject([{ field: 'email' }])
    const page = await visitor.post('/auth/register', fields)
    expect(page.status).toBe(409)
    expect(await page.text()).toContain('already has an account')
  })
})

describe('what is typed', () => {
  const passwords = [
    ['7 characters', 'abcdefg', 422],
    ['8 characters', 'abcdefg%', 201],
    ['64 characters', 'x'.repeat(64), 201],
    ['256 characters', 'x'.repeat(256), 201],
    ['257 characters', 'x'.repeat(257), 422],
    ['1,000 characters', 'x'.repeat(1000), 422],
    ['100 KB', 'x'.repeat(100_000), 422],
    ['a NUL', 'abcdefgh\0', 422],
    ['8 emoji', '🚢'.repeat(8), 201],
    ['4 emoji', '🚢'.repeat(4), 422],
    ['nothing', null, 422],
    ['a number', 12345678, 422],
    ['a list', ['abcdefgh%'], 422],
    ['one of the most common', 'password', 422],
    ['a common one in capitals', 'TrustNo1', 422],
    ['a common one and more', 'password and more', 201],
  ] as const

  test.each(passwords)('%s as a password', async (_, password, status) => {
    const t = accountsApp()
    const response = await new Visitor(t.app).json('/auth/register', { ...ada, password })
    expect(response.status).toBe(status)
    if (status === 422) expect(await errorsOf(response)).toMatchObject([{ field: 'password' }])
    expect(emailsIn(t)).toHaveLength(status === 201 ? 1 : 0)
  })

  test('blanks around a password belong to it', async () => {
    const t = accountsApp()
    await registered(t.app, { ...ada, password: '  blanks  ' })
    const login = (password: string) =>
      new Visitor(t.app).json('/auth/login', { email: ada.email, password })
    expect((await login('blanks')).status).toBe(401)
    expect((await login('  blanks  ')).status).toBe(200)
  })

  const emails = [
    ...[null, 7, '', 'ada', 'ada@', '@example.com', 'a b@example.com', 'ada@exa mple.com'],
    ...['ada@example..com', 'ada@@example.com', 'ada@example.com\nbcc: eve@example.com', 'ada@-@'],
    `${'a'.repeat(60)}@${'b'.repeat(194)}`,
    `${'a'.repeat(100_000)}@`,
  ]
  test.each(emails)('%p is no e-mail address', async (email) => {
    const t = accountsApp()
    const response = await new Visitor(t.app).json('/auth/register', { ...ada, email })
    expect(response.status).toBe(422)
    expect(await errorsOf(response)).toMatchObject([{ field: 'email' }])
    expect(emailsIn(t)).toEqual([])
  })

  test.each(['ada+davit@example.com', 'ADA@EXAMPLE.COM ', 'ada@büro.example', 'root@localhost'])(
    '%p is one, stored in lower case',
    async (email) => {
      const t = accountsApp()
      await registered(t.app, { ...ada, email })
      expect(emailsIn(t)).toEqual([email.trim().toLowerCase()])
    },
  )

  test('comes back in the form, with what is wrong and without the password', async () => {
    const visitor = new Visitor(accountsApp().app)
    const response = await visitor.post('/auth/register', {
      email: '<b>ada',
      name: 'Ada L.',
      password: 'secret7',
    })
    expect(response.status).toBe(422)
    const page = await response.text()
    expect(page).toContain('value="&lt;b&gt;ada"')
    expect(page).toContain('value="Ada L."')
    expect(page).toContain('must be at least 8 characters')
    expect(page).not.toContain('secret7')
  })

  test('only counts where it is a field: no one makes themself an admin', async () => {
    const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    await registered(t.app, ada)
    const visitor = await registered(t.app, bob, { role: 'admin', id: 'x', isAdmin: true })
    expect((await visitor.get('/admin')).status).toBe(403)
  })
})
