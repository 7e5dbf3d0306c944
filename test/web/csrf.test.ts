import { describe, expect, test } from 'bun:test'
import { Secrets } from '../../src/platform/secrets.ts'
import { csrfCheck, csrfToken } from '../../src/web/csrf.ts'
import { factory } from '../../src/web/factory.ts'
import { answerError, answerNotFound } from '../../src/web/failures.tsx'

const secrets = new Secrets('a secret of the tests, 32 bytes long')
const sessionOf = (id: string | undefined) => (id ? { id, userId: 'ada' } : null)

/** A form that counts what reaches it, for the session that the request names. */
function formApp({ url = null, key = secrets }: { url?: URL | null; key?: Secrets } = {}) {
  const reached: string[] = []
  let browser = ''
  const deps = { secrets: key, config: { url } }
  const app = factory
    .createApp()
    .use(async (c, next) => {
      c.set('session', sessionOf(c.req.header('Test-Session')))
      await next()
    })
    .use(csrfToken(deps), csrfCheck(deps))
    .get('/form', (c) => c.text(c.var.csrfToken))
    .on(['POST', 'PUT', 'PATCH', 'DELETE'], '/form', async (c) => {
      reached.push(c.req.method)
      const body = await c.req.parseBody({ all: true }).catch(() => ({}))
      return c.json(body)
    })
  app.onError(answerError)
  app.notFound(answerNotFound)

  /** Of this browser, whose id comes with the first answer: in its cookie, and in the form. */
  async function tokens(session?: string) {
    const response = await app.request('http://davit.test/form', {
      headers: { Cookie: browser, ...(session && { 'Test-Session': session }) },
    })
    const given = response.headers.getSetCookie().map((line) => line.split(';')[0]!)
    browser = given.find((pair) => pair.includes('svc_visitor=')) ?? browser
    const held = given.find((pair) => pair.startsWith('svc_csrf='))!.slice('svc_csrf='.length)
    return { held, shown: await response.text() }
  }
  const token = async (session?: string) => (await tokens(session)).held
  function change({ Cookie = '', ...headers }: Record<string, string>, init: RequestInit = {}) {
    return app.request('http://davit.test/form', {
      method: 'POST',
      ...init,
      headers: {
        Accept: 'application/json',
        Host: 'davit.test',
        ...headers,
        Cookie: `${browser}; ${Cookie}`,
      },
    })
  }
  return { app, reached, token, tokens, change }
}

const both = (token: string) => ({ Cookie: `svc_csrf=${token}`, 'X-CSRF-Token': token })

describe('a change with its token', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])('passes as %s with the header', async (method) => {
    const t = formApp()
    expect((await t.change(both(await t.token()), { method })).status).toBe(200)
  })

  test.each(['urlencoded', 'multipart'])(
    'passes with the field of a %s form, all fields kept',
    async (kind) => {
      const t = formApp()
      const token = await t.token()
      const body = kind === 'multipart' ? new FormData() : new URLSearchParams()
      for (const [name, value] of [
        ['csrf_token', token],
        ['on', '0'],
        ['on', '1'],
      ] as const)
        body.append(name, value)
      const response = await t.change({ Cookie: `svc_csrf=${token}` }, { body })
      expect(response.status).toBe(200)
      expect(await response.json()).toMatchObject({ on: ['0', '1'] })
    },
  )

  test('passes with the token that the form shows, in a field and in the header', async () => {
    const t = formApp()
    const { held, shown } = await t.tokens('s1')
    const headers = { Cookie: `svc_csrf=${held}`, 'Test-Session': 's1' }
    expect((await t.change({ ...headers, 'X-CSRF-Token': shown })).status).toBe(200)
    const body = new URLSearchParams({ csrf_token: shown })
    expect((await t.change(headers, { body })).status).toBe(200)
  })

  test('passes again and again, as several tabs and the back button need it', async () => {
    const t = formApp()
    const token = await t.token('s1')
    for (let i = 0; i < 3; i++)
      expect((await t.change({ ...both(token), 'Test-Session': 's1' })).status).toBe(200)
  })
})

describe('a change is refused', () => {
  const cases: [string, (t: ReturnType<typeof formApp>) => Promise<Record<string, string>>][] = [
    ['without any token', async () => ({})],
    ['with the cookie only', async (t) => ({ Cookie: `svc_csrf=${await t.token()}` })],
    ['with the header only', async (t) => ({ 'X-CSRF-Token': await t.token() })],
    ['with empty ones', async () => both('')],
    [
      'with another token in the header',
      async (t) => ({ ...both(await t.token()), 'X-CSRF-Token': await t.token() }),
    ],
    ['with a pair that was planted', async () => both('planted')],
    ['with a pair signed by nobody', async () => both(`planted.${'0'.repeat(64)}`)],
    [
      'with a pair of another installation',
      async () =>
        both(await formApp({ key: new Secrets('another secret, also 32 bytes long') }).token()),
    ],
    [
      'with the token of another session',
      async (t) => ({
        ...both(await t.token('s1')),
        'Test-Session': 's2',
      }),
    ],
    ['with the token of a session that has ended', async (t) => both(await t.token('s1'))],
    [
      'with the token from before the login',
      async (t) => ({
        ...both(await t.token()),
        'Test-Session': 's1',
      }),
    ],
  ]
  test.each(cases)('%s', async (_, headersFor) => {
    const t = formApp()
    const response = await t.change(await headersFor(t))
    expect(response.status).toBe(403)
    expect(t.reached).toEqual([])
  })

  test.each([
    ['application/json', '{}'],
    ['text/plain', 'csrf_token=x'],
    ['application/octet-stream', 'x'],
    ['multipart/form-data', 'broken: no boundary'],
    ['multipart/form-data; boundary=x', 'broken: no parts'],
    ['application/x-www-form-urlencoded', 'csrf_token[]=x&csrf_token=%'],
  ])('as %s without a token', async (type, body) => {
    const t = formApp()
    const headers = { Cookie: `svc_csrf=${await t.token()}`, 'Content-Type': type }
    expect((await t.change(headers, { body })).status).toBe(403)
    expect(t.reached).toEqual([])
  })

  test('with a token in the address', async () => {
    const t = formApp()
    const token = await t.token()
    const response = await t.app.request(`/form?csrf_token=${token}`, {
      method: 'POST',
      headers: { Accept: 'application/json', Cookie: `svc_csrf=${token}` },
    })
    expect(response.status).toBe(403)
  })
})

describe('the token that a form shows', () => {
  test('is another in each answer, and has nothing of the cookie in it', async () => {
    const t = formApp()
    const { held, shown } = await t.tokens('s1')
    const ask = () =>
      t.app.request('/form', { headers: { Cookie: `svc_csrf=${held}`, 'Test-Session': 's1' } })
    const all = [shown, ...(await Promise.all([ask(), ask()].map(async (a) => (await a).text())))]
    expect(new Set(all).size).toBe(3)
    for (const one of all) {
      expect(one).toMatch(/^[\w-]{171}$/)
      for (const part of held.split('.')) expect(one).not.toContain(part.slice(0, 8))
    }
  })

  test('is refused once a bit of it is changed, or with the cookie of another session', async () => {
    const t = formApp()
    const { held, shown } = await t.tokens('s1')
    const other = await t.tokens('s2')
    const changed = Buffer.from(shown, 'base64url').map((byte, at) =>
      at === 100 ? byte ^ 1 : byte,
    )
    for (const [cookie, sent] of [
      [held, Buffer.from(changed).toString('base64url')],
      [held, shown.slice(0, -2)],
      [held, `${shown}AA`],
      [held, 'A'.repeat(171)],
      [held, other.shown],
      [other.held, other.shown],
    ] as const) {
      const headers = { Cookie: `svc_csrf=${cookie}`, 'X-CSRF-Token': sent, 'Test-Session': 's1' }
      expect((await t.change(headers)).status).toBe(403)
    }
  })
})

describe('where a change comes from', () => {
  const url = 'https://davit.example'
  const ours = { 'Sec-Fetch-Site': 'same-origin' }
  const cases: [string | null, Record<string, string>, number][] = [
    [url, {}, 200],
    [url, ours, 200],
    [url, { Origin: 'https://davit.example' }, 200],
    [url, { ...ours, Origin: 'https://davit.example' }, 200],
    [null, { Origin: 'http://davit.test' }, 200],
    [null, { Origin: 'https://davit.test' }, 200], // TLS may end at a proxy
    [url, { 'Sec-Fetch-Site': 'cross-site' }, 403],
    [url, { 'Sec-Fetch-Site': 'same-site' }, 403],
    [url, { 'Sec-Fetch-Site': 'none' }, 403],
    [url, { 'Sec-Fetch-Site': '' }, 403],
    [url, { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://davit.example' }, 403],
    [url, { Origin: 'https://evil.example' }, 403],
    [url, { Origin: 'null' }, 403],
    [url, { Origin: 'http://davit.example' }, 403],
    [url, { Origin: 'https://davit.example:8443' }, 403],
    [url, { Origin: 'http://davit.test' }, 403], // the Host is not asked where DAVIT_URL is set
    [null, { Origin: 'https://evil.example' }, 403],
    [null, { Origin: 'http://davit.test:8080' }, 403],
    [null, { Origin: 'null' }, 403],
  ]
  test.each(cases)('with DAVIT_URL %p and %p: %i', async (publicUrl, headers, status) => {
    const t = formApp({ url: publicUrl === null ? null : new URL(publicUrl) })
    expect((await t.change({ ...both(await t.token()), ...headers })).status).toBe(status)
    expect(t.reached).toHaveLength(status === 200 ? 1 : 0)
  })
})

describe('the cookie', () => {
  test('is readable by scripts, and Secure under https', async () => {
    const cookieOf = async (url: URL | null) =>
      (await formApp({ url }).app.request('/form', { headers: { 'Test-Session': 's1' } })).headers
        .get('Set-Cookie')!
        .split('; ')
        .slice(1)
    expect(await cookieOf(null)).toEqual(['Path=/', 'SameSite=Lax'])
    expect(await cookieOf(new URL('https://davit.example'))).toContain('Secure')
  })

  test('is kept while it fits and replaced when it does not', async () => {
    const t = formApp()
    const token = await t.token('s1')
    const ask = (session: string) =>
      t.app.request('/form', {
        headers: { Cookie: `svc_csrf=${token}`, 'Test-Session': session },
      })
    expect((await ask('s1')).headers.has('Set-Cookie')).toBe(false)
    expect((await ask('s2')).headers.get('Set-Cookie')).toMatch(
      /^svc_csrf=[\w-]{43}\.[0-9a-f]{64};/,
    )
  })
})

test('what does not exist is not found rather than refused', async () => {
  const response = await formApp().app.request('/nothing', {
    method: 'POST',
    headers: { Accept: 'application/json' },
  })
  expect(response.status).toBe(404)
})
