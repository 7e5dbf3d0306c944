import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import type { Context } from 'hono'
import { sessions } from '../../src/db/schema.ts'
import { isLoginAlive } from '../../src/accounts/session.ts'
import { accountsApp, ada, bob, registered, Visitor } from './visitor.ts'

const day = 24 * 3_600_000

afterEach(() => {
  setSystemTime()
})

/** One of an admin that came with this session. */
const requestOf = (session: { id: string }) => {
  const known = new Map<string, unknown>(Object.entries({ session, user: { role: 'admin' } }))
  return { get: (name: string) => known.get(name) } as unknown as Context
}

const isIn = async (visitor: Visitor) => (await visitor.get('/dashboard')).status === 200
const cookieLine = (response: Response, name: string) =>
  response.headers.getSetCookie().filter((line) => line.startsWith(`${name}=`))

describe('the session cookie', () => {
  const plain = ['HttpOnly', 'Max-Age=2592000', 'Path=/', 'SameSite=Lax']
  test.each([
    [{}, 'svc_session', plain],
    [{ DAVIT_URL: 'http://davit.lan' }, 'svc_session', plain],
    [{ DAVIT_URL: 'https://davit.example' }, '__Host-svc_session', [...plain, 'Secure']],
  ])('with %p has the name and the flags it needs', async (env, name, flags) => {
    const response = await new Visitor(accountsApp({ env }).app).json('/auth/register', ada)
    const [line, ...others] = cookieLine(response, name)
    expect(others).toEqual([])
    const [pair, ...attributes] = line!.split('; ')
    expect(pair).toMatch(new RegExp(`^${name}=[\\w-]{43}$`))
    expect(attributes.sort()).toEqual(flags)
  })

  test('holds what the database does not: a copy of it logs no one in', async () => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const dump = Buffer.from(db.$client.serialize()).toString('latin1')
    expect(dump).toContain(ada.email)
    expect(dump).not.toContain(visitor.cookies.get('svc_session')!)
    expect(dump).not.toContain(ada.password)
    const [row] = db.select().from(sessions).all()
    const thief = new Visitor(app)
    for (const stolen of [row!.tokenHash, row!.id]) {
      thief.cookies.set('svc_session', stolen)
      expect(await isIn(thief)).toBe(false)
    }
  })

  test.each(['', 'x', "' OR 1=1", '%00', 'a'.repeat(5000)])(
    'with nonsense is none: %p',
    async (value) => {
      const { app } = accountsApp()
      await registered(app, ada)
      const visitor = new Visitor(app)
      visitor.cookies.set('svc_session', value)
      expect((await visitor.get('/dashboard')).status).toBe(303)
    },
  )
})

describe('a login', () => {
  test('never takes over a token that was there before', async () => {
    const { app } = accountsApp()
    await registered(app, ada)
    const visitor = new Visitor(app)
    visitor.cookies.set('svc_session', 'planted')
    await visitor.json('/auth/login', ada)
    expect(visitor.cookies.get('svc_session')).not.toBe('planted')
  })

  test('ends the session it replaces, and no other', async () => {
    const { app } = accountsApp()
    const phone = await registered(app, ada)
    const laptop = new Visitor(app)
    await laptop.json('/auth/login', ada)
    const before = new Visitor(app)
    before.cookies.set('svc_session', laptop.cookies.get('svc_session')!)
    await laptop.json('/auth/login', ada)
    expect([await isIn(before), await isIn(laptop), await isIn(phone)]).toEqual([false, true, true])
  })

  test('gives one new CSRF token, of its own session, and so does a logout', async () => {
    const { app } = accountsApp()
    const visitor = await registered(app, ada)
    const tokens = [visitor.cookies.get('svc_csrf')]
    for (const path of ['/auth/logout', '/auth/login']) {
      const response = await visitor.json(path, ada)
      expect(cookieLine(response, 'svc_csrf')).toHaveLength(1)
      tokens.push(visitor.cookies.get('svc_csrf'))
    }
    expect(new Set(tokens).size).toBe(3)
  })
})

describe('a logout', () => {
  test('ends the session for every copy of its cookie', async () => {
    const { app } = accountsApp()
    const visitor = await registered(app, ada)
    const copy = new Visitor(app)
    copy.cookies.set('svc_session', visitor.cookies.get('svc_session')!)
    const response = await visitor.post('/auth/logout')
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/login'])
    expect(visitor.cookies.has('svc_session')).toBe(false)
    expect(await isIn(copy)).toBe(false)
  })

  test('of someone who is not logged in does no harm', async () => {
    const response = await new Visitor(accountsApp().app).json('/auth/logout')
    expect([response.status, await response.json()]).toEqual([200, {}])
  })
})

describe('a session', () => {
  test.each([
    [-1000, true],
    [0, false],
    [1000, false],
  ])('30 days and %p ms after it was last renewed', async (offset, isAlive) => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const { id, expiresAt } = db.select().from(sessions).get()!
    expect(expiresAt.getTime() - Date.now()).toBeWithin(30 * day - 10_000, 30 * day + 1)
    setSystemTime(new Date(expiresAt.getTime() + offset))
    expect(isLoginAlive(db, requestOf({ id }))).toBe(isAlive)
    expect(await isIn(visitor)).toBe(isAlive)
  })

  test('is renewed, cookie and all, once half of its time is gone', async () => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const start = Date.now()
    const expiry = () => db.select().from(sessions).get()!.expiresAt.getTime()
    const first = expiry()
    setSystemTime(new Date(start + 14 * day))
    expect(cookieLine(await visitor.get('/dashboard'), 'svc_session')).toEqual([])
    expect(expiry()).toBe(first)
    setSystemTime(new Date(start + 16 * day))
    const token = visitor.cookies.get('svc_session')
    expect(cookieLine(await visitor.get('/dashboard'), 'svc_session')).toHaveLength(1)
    expect(visitor.cookies.get('svc_session')).toBe(token)
    expect(expiry()).toBeWithin(start + 46 * day - 1000, start + 46 * day + 1000)
    setSystemTime(new Date(start + 45 * day))
    expect(await isIn(visitor)).toBe(true)
  })

  test('is not cut or stretched by a clock that goes back', async () => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const before = db.select().from(sessions).all()
    setSystemTime(new Date(Date.now() - 3_600_000))
    expect(await isIn(visitor)).toBe(true)
    expect(db.select().from(sessions).all()).toEqual(before)
  })

  test('is noted as seen at most once a minute', async () => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const seen = () => db.select().from(sessions).get()!.lastSeenAt.getTime()
    const start = seen()
    const notes = []
    for (const seconds of [30, 59, 61, 90, 122]) {
      setSystemTime(new Date(start + seconds * 1000))
      await visitor.get('/dashboard')
      notes.push(Math.floor((seen() - start) / 1000))
    }
    expect(notes).toEqual([0, 0, 61, 61, 122])
  })

  test('that has expired leaves the table at the next login', async () => {
    const { app, db } = accountsApp()
    await registered(app, ada)
    setSystemTime(new Date(Date.now() + 31 * day))
    await new Visitor(app).json('/auth/login', ada)
    expect(db.select().from(sessions).all()).toHaveLength(1)
  })
})

type SessionList = { items: { id: string }[]; nextCursor: string | null }

describe('the list of sessions', () => {
  test('has the user’s own, marks the current one and tells no secret', async () => {
    const { app } = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'
    await registered(app, bob)
    await registered(app, ada)
    const visitor = new Visitor(app, '203.0.113.5')
    await visitor.json('/auth/login', ada, { headers: { 'User-Agent': firefox } })
    const response = await visitor.get('/settings/sessions', { accept: 'application/json' })
    const list = (await response.json()) as { items: Record<string, unknown>[] }
    expect(list).toMatchObject({ items: [{ current: true }, { current: false }], nextCursor: null })
    expect(list.items[0]).toEqual({
      id: expect.any(String),
      userAgent: firefox,
      address: '203.0.113.5',
      current: true,
      createdAt: expect.any(String),
      lastSeenAt: expect.any(String),
      expiresAt: expect.any(String),
    })
    const page = await (await visitor.get('/settings/sessions')).text()
    expect(page).toContain('Firefox on Linux')
    expect(page).toContain('203.0.113.5')
  })

  test('is read by pages, the newest first', async () => {
    const { app } = accountsApp()
    await registered(app, ada)
    await new Visitor(app).json('/auth/login', ada)
    const visitor = new Visitor(app)
    await visitor.json('/auth/login', ada)
    const read = async (query: string) => {
      const path = `/settings/sessions${query}`
      const response = await visitor.get(path, { accept: 'application/json' })
      return { status: response.status, ...((await response.json()) as SessionList) }
    }
    const whole = await read('')
    const first = await read('?limit=2')
    const second = await read(`?limit=2&cursor=${first.nextCursor}`)
    expect(first.items).toHaveLength(2)
    expect([...first.items, ...second.items]).toEqual(whole.items)
    expect(whole.items.map(({ id }) => id)).toEqual(
      whole.items
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    )
    expect([whole.nextCursor, second.nextCursor]).toEqual([null, null])
    expect((await read('?limit=0')).status).toBe(422)
  })

  test('ends one', async () => {
    const { app, db } = accountsApp()
    const old = await registered(app, ada)
    const visitor = new Visitor(app)
    const { id } = db.select().from(sessions).get()!
    await visitor.json('/auth/login', ada)
    const headers = { 'HX-Request': 'true' }
    const fragment = await visitor.delete(`/settings/sessions/${id}`, { accept: '*/*', headers })
    expect(await fragment.text()).toStartWith('<section id="sessions"')
    expect([await isIn(old), await isIn(visitor)]).toEqual([false, true])
    expect((await visitor.delete(`/settings/sessions/${id}`)).status).toBe(404)
  })

  test('ends the current one as a logout does', async () => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const { id } = db.select().from(sessions).get()!
    const response = await visitor.delete(`/settings/sessions/${id}`, { accept: 'text/html' })
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/login'])
    expect(visitor.cookies.has('svc_session')).toBe(false)
  })

  test('ends all others', async () => {
    const { app } = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    const old = await registered(app, ada)
    const other = await registered(app, bob)
    const visitor = new Visitor(app)
    await visitor.json('/auth/login', ada)
    const response = await visitor.delete('/settings/sessions')
    expect(await response.json()).toMatchObject({ items: [{ current: true }] })
    expect([await isIn(old), await isIn(other), await isIn(visitor)]).toEqual([false, true, true])
  })

  test('someone else’s session does not exist', async () => {
    const { app, db } = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
    const other = await registered(app, ada)
    const { id } = db.select().from(sessions).get()!
    const visitor = await registered(app, bob)
    const foreign = await visitor.delete(`/settings/sessions/${id}`)
    const missing = await visitor.delete(`/settings/sessions/${Bun.randomUUIDv7()}`)
    expect([foreign.status, await foreign.text()]).toEqual([404, await missing.text()])
    expect(await isIn(other)).toBe(true)
  })
})

describe('a Bearer token', () => {
  test.each(['Bearer dvt_x', 'bearer', 'BEARER a b'])(
    '%p is not valid yet, whatever cookies come with it',
    async (value) => {
      const { app } = accountsApp()
      const visitor = await registered(app, ada)
      const response = await visitor.get('/dashboard', {
        accept: '*/*',
        headers: { Authorization: value },
      })
      expect(response.status).toBe(401)
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer')
    },
  )
})
