import { availableParallelism } from 'node:os'
import { afterEach, describe, expect, setSystemTime, test, spyOn } from 'bun:test'
import { isPassword } from '../../src/accounts/passwords.ts'
import { events, loginFailures } from '../../src/db/schema.ts'
import { accountsApp, ada, bob, costlyHash, registered, Visitor } from './visitor.ts'

const minutes = 60_000

afterEach(() => {
  setSystemTime()
})

async function withAda(options: Parameters<typeof accountsApp>[0] = {}) {
  const t = accountsApp(options)
  await registered(t.app, ada)
  return t
}

const wrong = { ...ada, password: 'not the password' }

describe('logging in', () => {
  test('answers a program with the user', async () => {
    const { app } = await withAda()
    const response = await new Visitor(app).json('/auth/login', {
      ...ada,
      email: ' ADA@example.com',
    })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ email: ada.email, name: null, role: 'admin' })
  })

  test('with a new browser or program is told to the user, with a known one not', async () => {
    const { app, db } = await withAda()
    const own = new Visitor(app)
    const told = () => db.select().from(events).all()
    const curl = { headers: { 'User-Agent': 'curl/8.1' } }
    await own.json('/auth/login', ada)
    const { length } = told()
    await own.json('/auth/login', ada)
    expect(told()).toHaveLength(length)
    await new Visitor(app, '203.0.113.5').json('/auth/login', ada, curl)
    await new Visitor(app, '203.0.113.5').json('/auth/login', ada, curl)
    const more = told().slice(length)
    expect(more).toMatchObject([{ kind: 'login_new', href: '/settings/sessions' }])
    expect(more[0]!.text).toMatch(/curl\/8\.1 from 203\.0\.113\.5/)
    await new Visitor(app, '203.0.113.5').json('/auth/login', wrong)
    expect(told()).toHaveLength(length + 1)
  })

  test('sends a browser to the dashboard, htmx by its header', async () => {
    const { app } = await withAda()
    const browser = await new Visitor(app).post('/auth/login', ada)
    expect([browser.status, browser.headers.get('Location')]).toEqual([303, '/dashboard'])
    const headers = { 'HX-Request': 'true' }
    const partial = await new Visitor(app).post('/auth/login', ada, { headers })
    expect([partial.status, partial.headers.get('HX-Redirect')]).toEqual([200, '/dashboard'])
  })

  test('leads back to the page that wanted a login', async () => {
    const { app } = await withAda()
    const visitor = new Visitor(app)
    const page = '/settings/sessions?limit=5'
    expect((await visitor.get(page)).headers.get('Location')).toBe('/login')
    await visitor.post('/auth/login', wrong)
    const answer = await visitor.post('/auth/login', ada)
    expect(answer.headers.get('Location')).toBe(page)
    expect((await visitor.get('/login')).headers.get('Location')).toBe('/dashboard')
  })

  test('leads to no other site', async () => {
    const { app } = await withAda()
    const visitor = new Visitor(app)
    visitor.cookies.set('svc_next', encodeURIComponent('//evil.example'))
    const answer = await visitor.post('/auth/login', ada)
    expect(answer.headers.get('Location')).toBe('/dashboard')
  })

  test('has nothing to ask of someone who is logged in', async () => {
    const { app } = accountsApp()
    const visitor = await registered(app, ada)
    expect((await visitor.get('/login')).headers.get('Location')).toBe('/dashboard')
    expect((await visitor.get('/auth/register')).headers.get('Location')).toBe('/dashboard')
  })

  test('tells an unknown e-mail and a wrong password apart in nothing', async () => {
    const { app } = await withAda()
    const answers = await Promise.all(
      [wrong, bob].map(async (fields) => {
        const json = await new Visitor(app).json('/auth/login', fields)
        const page = await new Visitor(app).post('/auth/login', fields)
        const html = (await page.text())
          .replace(fields.email, '')
          .replaceAll(/value="[\w.-]{60,}"/g, '')
        return [json.status, await json.text(), page.status, html] as const
      }),
    )
    expect(answers[0]).toEqual(answers[1]!)
    expect(answers[0]![0]).toBe(401)
    expect(answers[0]![3]).toContain('Wrong e-mail address or password.')
  })

  test('does the same work for an unknown e-mail as for a wrong password', async () => {
    using hash = spyOn(Bun.password, 'hash').mockImplementation(costlyHash)
    const { app } = await withAda()
    hash.mockClear()
    using verify = spyOn(Bun.password, 'verify')
    for (const fields of [wrong, bob])
      expect((await new Visitor(app).json('/auth/login', fields)).status).toBe(401)
    expect(hash).not.toHaveBeenCalled()
    expect(verify.mock.calls.map(([password]) => password)).toEqual([wrong.password, bob.password])
    const costs = verify.mock.calls.map(([, hash]) => String(hash).split('$').slice(0, 4))
    expect(costs[0]).toEqual(costs[1]!)
  })

  test.each([{}, { email: ada.email }, { password: 'x' }, { email: [], password: {} }])(
    'wants both fields as texts: %p',
    async (body) => {
      const { app } = await withAda()
      expect((await new Visitor(app).json('/auth/login', body)).status).toBe(422)
    },
  )
})

describe('the throttle', () => {
  type App = Awaited<ReturnType<typeof withAda>>['app']

  async function fail(app: App, times: number, network = (_: number) => '198.51.100.7') {
    for (let i = 0; i < times; i++) {
      const visitor = new Visitor(app, network(i))
      expect((await visitor.json('/auth/login', wrong)).status).toBe(401)
    }
  }

  test.each([
    ['an IPv4 address', '198.51.100.7', '198.51.100.7', '198.51.100.8'],
    ['an IPv6 /64', '2001:db8:1:2::1', '2001:db8:1:2:ffff::9', '2001:db8:1:3::1'],
  ])(
    'holds an e-mail after 5 failures from %s, not from elsewhere',
    async (_, one, same, other) => {
      const { app } = accountsApp()
      const loggedIn = await registered(app, ada)
      await fail(app, 5, () => one)
      for (const fields of [wrong, ada, { ...ada, email: 'ADA@example.com', address: '1.2.3.4' }]) {
        const response = await new Visitor(app, same).json('/auth/login', fields)
        expect(response.status).toBe(429)
        expect(Number(response.headers.get('Retry-After'))).toBeWithin(890, 901)
      }
      const page = await new Visitor(app, same).post('/auth/login', ada)
      expect([page.status, page.headers.has('Retry-After')]).toEqual([429, true])
      expect(await page.text()).toContain('Wait 15 minutes, then try again.')
      expect((await loggedIn.get('/dashboard')).status).toBe(200)
      expect((await new Visitor(app, other).json('/auth/login', ada)).status).toBe(200)
      expect((await new Visitor(app, same).json('/auth/login', ada)).status).toBe(429)
    },
  )

  test('holds an e-mail after 100 failures from anywhere, but no browser that logged in before', async () => {
    const { app, db } = accountsApp()
    const browser = await registered(app, ada)
    await browser.post('/auth/logout', {})
    await fail(app, 100, (i) => `203.0.113.${Math.floor(i / 4)}`)
    expect((await new Visitor(app, '192.0.2.1').json('/auth/login', ada)).status).toBe(429)
    const strange = new Visitor(app, '192.0.2.1')
    const [known] = [...browser.cookies].filter(([name]) => name === 'svc_browser')
    const forged = known![1].replace(/^./, (first) => (first === 'x' ? 'y' : 'x'))
    for (const value of [`${known![1]}0`, forged, 'x.y', '.', '']) {
      strange.cookies.set('svc_browser', value)
      expect((await strange.json('/auth/login', ada)).status).toBe(429)
    }
    expect((await browser.json('/auth/login', ada)).status).toBe(200)
    expect(db.select().from(loginFailures).all()).toHaveLength(100)
  })

  test('knows a browser for its user alone, until the password changes', async () => {
    const { app } = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    const [one, two] = [await registered(app, ada), await registered(app, bob)]
    await fail(app, 5)
    expect((await two.json('/auth/login', ada)).status).toBe(429)
    const stolen = new Visitor(app)
    stolen.cookies.set('svc_browser', one.cookies.get('svc_browser')!)
    const password = 'another horse battery'
    const change = { password, currentPassword: ada.password }
    expect((await one.put('/settings/password', change)).status).toBe(200)
    expect((await stolen.json('/auth/login', { ...ada, password })).status).toBe(429)
    expect((await one.json('/auth/login', { ...ada, password })).status).toBe(200)
  })

  test('holds a known browser after its own 5 failures, and its network with it', async () => {
    const { app } = accountsApp()
    const browser = await registered(app, ada)
    await browser.post('/auth/logout', {})
    for (let i = 0; i < 5; i++) expect((await browser.json('/auth/login', wrong)).status).toBe(401)
    expect((await browser.json('/auth/login', ada)).status).toBe(429)
    browser.cookies.delete('svc_browser')
    expect((await browser.json('/auth/login', ada)).status).toBe(429)
  })

  test('lets go 15 minutes after the failures', async () => {
    const { app } = await withAda()
    await fail(app, 5)
    setSystemTime(new Date(Date.now() + 14 * minutes))
    const early = await new Visitor(app).json('/auth/login', ada)
    expect(early.status).toBe(429)
    expect(Number(early.headers.get('Retry-After'))).toBeWithin(50, 61)
    setSystemTime(new Date(Date.now() + 1 * minutes))
    expect((await new Visitor(app).json('/auth/login', ada)).status).toBe(200)
  })

  test('holds an address after 20 failures, whichever e-mails and headers it tries', async () => {
    const { app } = await withAda()
    const tryOne = (i: number) => {
      const headers = { 'X-Forwarded-For': `203.0.113.${i}` }
      return new Visitor(app, `2001:db8:1:2::${i}`).json(
        '/auth/login',
        { ...bob, email: `u${i}@example.com` },
        { headers },
      )
    }
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => tryOne(i)))
    expect(answers.every(({ status }) => status === 401)).toBe(true)
    expect((await tryOne(20)).status).toBe(429)
    expect((await new Visitor(app, '2001:db8:1:3::1').json('/auth/login', ada)).status).toBe(200)
  })

  test('lets no more than 5 of 30 tries at once reach the password', async () => {
    const { app } = await withAda()
    const visitor = new Visitor(app)
    await visitor.token()
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => visitor.json('/auth/login', wrong)),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(25)
  })

  test('doesn’t count what is refused because too many log in', async () => {
    const { app, db } = await withAda()
    const { promise, resolve } = Promise.withResolvers<boolean>()
    using verify = spyOn(Bun.password, 'verify').mockReturnValue(promise)
    const waiting = Array.from({ length: 128 + availableParallelism() }, () => isPassword('x', 'y'))
    for (let tries = 0; tries < 6; tries++)
      expect((await new Visitor(app).json('/auth/login', ada)).status).toBe(503)
    expect(db.select().from(loginFailures).all()).toEqual([])
    resolve(true)
    await Promise.all(waiting)
    expect((await new Visitor(app).json('/auth/login', ada)).status).toBe(200)
    expect(verify).toHaveBeenCalled()
  })

  test('forgets the failures of an e-mail when its owner gets in', async () => {
    const { app, db } = await withAda()
    for (let round = 0; round < 2; round++) {
      await fail(app, 4)
      expect((await new Visitor(app).json('/auth/login', ada)).status).toBe(200)
    }
    expect(db.select().from(loginFailures).all()).toEqual([])
  })

  test('keeps no row that is older than it looks back', async () => {
    const { app, db } = await withAda()
    await fail(app, 3)
    setSystemTime(new Date(Date.now() + 15 * minutes))
    await new Visitor(app).json('/auth/login', bob)
    expect(db.select().from(loginFailures).all()).toMatchObject([{ email: bob.email }])
  })
})
