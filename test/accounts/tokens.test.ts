import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { makeToken } from '../../src/accounts/token-store.ts'
import { apiTokens, users } from '../../src/db/schema.ts'
import { accountsApp, ada, asToken, bob, registered } from './visitor.ts'

const day = 24 * 3_600_000

afterEach(() => {
  setSystemTime()
})

type Made = { id: string; token: string; [field: string]: unknown }

async function withToken(fields: object = {}) {
  const t = accountsApp({ env: { DAVIT_REGISTRATION: 'open' } })
  const visitor = await registered(t.app, ada)
  const body = { name: 'ci', scopes: ['write'], currentPassword: ada.password, ...fields }
  const response = await visitor.json('/settings/tokens', body)
  const made = (await response.json()) as Made
  return { ...t, visitor, response, made, call: asToken(t.app, made.token) }
}

/** What a form asks for beside the token. */
const confirmed = { current_password: ada.password }

const statusOf = async (t: Awaited<ReturnType<typeof withToken>>) =>
  (await t.call('GET', '/dashboard')).status

describe('a new token', () => {
  test('is answered to a program with all there is to know', async () => {
    const { response, made } = await withToken({ scopes: ['deploy', 'read'], expiresInDays: 30 })
    expect(response.status).toBe(201)
    expect(response.headers.get('Location')).toBe(`/settings/tokens/${made.id}`)
    expect(made).toEqual({
      id: expect.any(String),
      name: 'ci',
      scopes: ['read', 'deploy'],
      projectId: null,
      lastUsedAt: null,
      expiresAt: expect.any(String),
      createdAt: expect.any(String),
      token: expect.stringMatching(/^dvt_[\w-]{43}$/),
    })
    expect(Date.parse(made['expiresAt'] as string) - Date.now()).toBeWithin(
      30 * day - 10_000,
      30 * day + 1,
    )
  })

  test('is shown to htmx in a dialog, with the list brought up to date beside it', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const fields = { name: 'ci', scopes: 'read\ndeploy', expires_in_days: '' }
    const response = await visitor.htmx('POST', '/settings/tokens', { ...fields, ...confirmed })
    const html = await response.text()
    expect(response.status).toBe(200)
    expect(html).toMatch(/<dialog[^]*dvt_[\w-]{43}[^]*<section id="tokens"[^>]*hx-swap-oob="true"/)
    expect(html).toContain('never expires')
  })

  test('is shown to a browser on the page', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const response = await visitor.post('/settings/tokens', {
      name: 'ci',
      scopes: 'read',
      ...confirmed,
    })
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringMatching(/^<!DOCTYPE html>[^]*dvt_[\w-]{43}/),
    ])
  })

  test('is shown once: neither the lists nor the database hold it', async () => {
    const { visitor, made, db, app } = await withToken()
    const answers = await Promise.all([
      visitor.get('/settings/tokens'),
      visitor.get('/settings/tokens', { accept: 'application/json' }),
      visitor.htmx('GET', '/settings/tokens'),
      visitor.get('/settings/audit'),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      const text = await answer.text()
      expect(text).toContain('ci')
      expect(text).not.toContain(made.token.slice(4))
    }
    const dump = Buffer.from(db.$client.serialize()).toString('latin1')
    expect(dump).not.toContain(made.token.slice(4))
    const [row] = db.select().from(apiTokens).all()
    expect(row!.tokenHash).toMatch(/^[0-9a-f]{64}$/)
    expect((await asToken(app, row!.tokenHash)('GET', '/dashboard')).status).toBe(401)
  })

  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(61) }, 'name'],
    [{ scopes: [] }, 'scopes'],
    [{ scopes: undefined }, 'scopes'],
    [{ scopes: null }, 'scopes'],
    [{ scopes: ['admin'] }, 'scopes'],
    [{ scopes: { read: true } }, 'scopes'],
    [{ scopes: ['deploy'], projectId: '018f3c5e-0000-7000-8000-000000000000' }, 'projectId'],
    [{ expiresInDays: 0 }, 'expiresInDays'],
    [{ expiresInDays: 1.5 }, 'expiresInDays'],
    [{ expiresInDays: 100_000 }, 'expiresInDays'],
    [{ expiresInDays: 'soon' }, 'expiresInDays'],
  ])('of %p is refused', async (fields, field) => {
    const { response, made, db } = await withToken(fields)
    expect(response.status).toBe(422)
    expect(made['errors']).toMatchObject([{ field }])
    expect(db.select().from(apiTokens).all()).toEqual([])
  })

  test('that was refused comes back in its dialog as it was typed', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const fields = { name: 'ci', scopes: 'everything' }
    const response = await visitor.htmx('POST', '/settings/tokens', fields)
    expect(response.status).toBe(422)
    const html = await response.text()
    expect(html).toStartWith('<dialog')
    expect(html).toContain('value="ci"')
    expect(html).toContain('field-scopes-error')
  })
})

describe('a request with a token', () => {
  test('is its user, and a program whatever it accepts', async () => {
    const { call } = await withToken()
    const response = await call('GET', '/settings/profile')
    expect(await response.json()).toMatchObject({ email: ada.email })
  })

  test('needs no CSRF token, and is given no cookie', async () => {
    const { call } = await withToken()
    const headers = { Origin: 'https://elsewhere.example', 'Sec-Fetch-Site': 'cross-site' }
    const response = await call('POST', '/dashboard', { headers })
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []])
  })

  test('is judged without its cookies', async () => {
    const { app, made } = await withToken()
    const other = await registered(app, bob)
    const Cookie = `svc_session=${other.cookies.get('svc_session')}`
    const valid = await asToken(app, made.token)('GET', '/dashboard', { headers: { Cookie } })
    expect(await valid.json()).toMatchObject({ email: ada.email })
    const invalid = await asToken(app, 'dvt_x')('GET', '/dashboard', { headers: { Cookie } })
    expect(invalid.status).toBe(401)
  })

  test('leaves a note of its use at most once a minute', async () => {
    const { call, db } = await withToken()
    const used = () => db.select().from(apiTokens).get()!.lastUsedAt?.getTime() ?? null
    expect(used()).toBeNull()
    const start = Date.now()
    const notes = []
    for (const seconds of [0, 30, 59, 61, 90, 122]) {
      setSystemTime(new Date(start + seconds * 1000))
      await call('GET', '/dashboard')
      notes.push(Math.round((used()! - start) / 1000))
    }
    expect(notes).toEqual([0, 0, 0, 61, 61, 122])
  })

  test.each(['bearer', 'BEARER', 'Bearer  '])('may write the scheme as %p', async (scheme) => {
    const { app, made } = await withToken()
    const headers = { Authorization: `${scheme} ${made.token}` }
    expect((await app.request('/dashboard', { headers })).status).toBe(200)
  })
})

describe('401, and where to look, is the answer to', () => {
  test('a token that is not one, or not quite', async () => {
    const { app, made } = await withToken()
    const last = made.token.at(-1)!
    const wrong = [
      '',
      'x',
      'dvt_',
      made.token.slice(0, -1),
      made.token.slice(0, -1) + (last === 'A' ? 'B' : 'A'),
      made.token.slice(4),
      made.token.toUpperCase(),
      `${made.token} ${made.token}`,
      'dvt_' + 'a'.repeat(10_000),
      "' OR 1=1 --",
    ]
    const answers = await Promise.all(
      wrong.map((token) =>
        asToken(app, token)('GET', '/dashboard', { headers: { Accept: 'application/json' } }),
      ),
    )
    const bodies = await Promise.all(answers.map((answer) => answer.text()))
    expect(answers.map(({ status }) => status)).toEqual(wrong.map(() => 401))
    expect(new Set(answers.map(({ headers }) => headers.get('WWW-Authenticate')))).toEqual(
      new Set(['Bearer']),
    )
    expect(new Set(bodies).size).toBe(1)
  })

  test('a token that has expired, to the millisecond', async () => {
    const t = await withToken({ expiresInDays: 1 })
    const expiry = t.db.select().from(apiTokens).get()!.expiresAt!.getTime()
    setSystemTime(new Date(expiry - 1))
    expect(await statusOf(t)).toBe(200)
    setSystemTime(new Date(expiry))
    expect(await statusOf(t)).toBe(401)
    expect(await (await t.visitor.get('/settings/tokens')).text()).toContain('expired on')
  })

  test('a token that was revoked', async () => {
    const t = await withToken()
    const response = await t.visitor.delete(`/settings/tokens/${t.made.id}`)
    expect(await response.json()).toEqual({ items: [], nextCursor: null })
    expect(await statusOf(t)).toBe(401)
    expect((await t.visitor.delete(`/settings/tokens/${t.made.id}`)).status).toBe(404)
  })

  test('a token of a user who is disabled, or deleted', async () => {
    const t = await withToken()
    t.db.update(users).set({ disabledAt: new Date() }).run()
    expect(await statusOf(t)).toBe(401)
    t.db.update(users).set({ disabledAt: null }).run()
    expect(await statusOf(t)).toBe(200)
    t.db.delete(users).run()
    expect(await statusOf(t)).toBe(401)
  })

  test('a token anywhere but in the header', async () => {
    const { app, made } = await withToken()
    const basic = btoa(`${ada.email}:${made.token}`)
    const places: [string, Record<string, string>][] = [
      [`/dashboard?token=${made.token}`, {}],
      [`/dashboard?access_token=${made.token}`, {}],
      ['/dashboard', { Authorization: `Basic ${basic}` }],
      ['/dashboard', { Authorization: `Basic ${btoa(`${made.token}:`)}` }],
      ['/dashboard', { Authorization: made.token }],
      ['/dashboard', { Authorization: `token ${made.token}` }],
      ['/dashboard', { 'X-Access-Token': made.token, 'Private-Token': made.token }],
      ['/dashboard', { Cookie: `svc_session=${made.token}` }],
      ['/dashboard', { Cookie: `token=${made.token}; access_token=${made.token}` }],
    ]
    for (const [path, headers] of places) {
      const answer = await app.request(path, {
        headers: { Accept: 'application/json', ...headers },
      })
      expect(answer.status, JSON.stringify([path, headers])).toBe(401)
    }
  })
})

describe('the list of tokens', () => {
  test('comes in pages, newest first', async () => {
    const { visitor, db } = await withToken()
    const userId = db.select().from(users).get()!.id
    for (const name of ['two', 'three'])
      makeToken(db, { userId, name, scopes: ['read'], expiresInDays: null })
    const page = async (query: string) =>
      (await (
        await visitor.get(`/settings/tokens?limit=2${query}`, { accept: 'application/json' })
      ).json()) as { items: { name: string }[]; nextCursor: string | null }
    const first = await page('')
    expect(first.items.map(({ name }) => name)).toEqual(['three', 'two'])
    const second = await page(`&cursor=${first.nextCursor}`)
    expect([second.items.map(({ name }) => name), second.nextCursor]).toEqual([['ci'], null])
  })

  test('is gone through by its owner alone', async () => {
    const { app, made, call } = await withToken()
    const stranger = await registered(app, bob)
    const list = await stranger.get('/settings/tokens', { accept: 'application/json' })
    expect(await list.json()).toEqual({ items: [], nextCursor: null })
    expect((await stranger.delete(`/settings/tokens/${made.id}`)).status).toBe(404)
    expect((await call('GET', '/dashboard')).status).toBe(200)
  })

  test('goes back to itself when a browser revoked one', async () => {
    const { visitor, made } = await withToken()
    const response = await visitor.delete(`/settings/tokens/${made.id}`, { accept: 'text/html' })
    expect([response.status, response.headers.get('Location')]).toEqual([303, '/settings/tokens'])
  })

  test('offers a new one in a dialog', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const html = await (await visitor.htmx('GET', '/settings/tokens/new')).text()
    expect(html).toStartWith('<dialog')
    expect(html).toContain('hx-post="/settings/tokens"')
  })
})
