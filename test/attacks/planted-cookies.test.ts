import { describe, expect, onTestFinished, test } from 'bun:test'
import { aSession } from '../support/session.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { hostCookie } from '../../src/web/cookies.ts'
import { oauthSettings, startOAuthProvider } from '../accounts/oauth-provider.ts'

/** What someone who is not logged in is given: an attacker can have it given to themselves, and plant it. */
async function given({ app }: TestApp, path = '/login') {
  const { headers } = await app.request(path, { headers: { Accept: 'text/html' } })
  return new Map(
    headers.getSetCookie().map((line) => {
      const [pair = ''] = line.split(';')
      return [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const
    }),
  )
}

const credentials = { email: 'mallory@example.com', password: 'correct horse battery' }

async function withMallory(env: Record<string, string> = {}) {
  const t = testApp({ DAVIT_REGISTRATION: 'open', ...env })
  const cookies = await given(t, '/auth/register')
  const body = new URLSearchParams({ ...credentials, csrf_token: cookies.get('svc_csrf')! })
  const headers = { Accept: 'text/html', Cookie: cookieHeader([...cookies]) }
  const made = await t.app.request('/auth/register', { method: 'POST', body, headers })
  expect(made.status).toBe(303)
  return t
}

const cookieHeader = (pairs: (readonly [string, string])[]) =>
  pairs.map(([name, value]) => `${name}=${value}`).join('; ')

describe.each([{}, { DAVIT_URL: 'https://davit.test' }])('with %p a planted', (env) => {
  const visitor = hostCookie('svc_visitor', { isSecure: 'DAVIT_URL' in env })

  test('svc_csrf logs no one in as someone else', async () => {
    const t = await withMallory(env)
    const [mine, victims] = [await given(t), await given(t)]
    const planted = mine.get('svc_csrf')!
    const body = new URLSearchParams({ ...credentials, csrf_token: planted })
    for (const Cookie of [
      cookieHeader([['svc_csrf', planted]]),
      cookieHeader([...victims, ['svc_csrf', planted]]),
      cookieHeader([['svc_csrf', planted], ...victims]),
    ]) {
      const headers = { Accept: 'text/html', Cookie }
      const answer = await t.app.request('/auth/login', { method: 'POST', body, headers })
      expect(answer.status).toBe(403)
      expect(answer.headers.getSetCookie().join()).not.toContain('svc_session')
    }
  })

  test('svc_csrf before or behind the genuine one locks no one out', async () => {
    const t = await withMallory(env)
    const [victims, mine] = [await given(t), await given(t)]
    const junk = ['x', 'x'.repeat(300), mine.get('svc_csrf')!].map((v) => ['svc_csrf', v] as const)
    for (const pairs of [
      [...junk, ...victims],
      [...victims, ...junk],
    ]) {
      const token = victims.get('svc_csrf')!
      const fields = { ...credentials, csrf_token: token }
      const headers = { Accept: 'text/html', Cookie: cookieHeader(pairs) }
      const body = new URLSearchParams(fields)
      const native = await t.app.request('/auth/login', { method: 'POST', body, headers })
      expect(native.status).toBe(303)
      // a script sends all that it finds
      const all = pairs.flatMap(([name, value]) => (name === 'svc_csrf' ? [value] : [])).join(' ')
      const scripted = await t.app.request('/auth/login', {
        method: 'POST',
        body: new URLSearchParams(credentials),
        headers: { ...headers, 'X-CSRF-Token': all },
      })
      expect(scripted.status).toBe(303)
    }
  })

  test('svc_next leads nowhere', async () => {
    const t = await withMallory(env)
    const mine = await given(t, '/settings/tokens')
    const victims = await given(t)
    for (const planted of ['%2Fsettings%2Ftokens', mine.get('svc_next')!, '//evil.example']) {
      const pairs = [['svc_next', planted] as const, ...victims]
      const body = new URLSearchParams({ ...credentials, csrf_token: victims.get('svc_csrf')! })
      const headers = { Accept: 'text/html', Cookie: cookieHeader(pairs) }
      const answer = await t.app.request('/auth/login', { method: 'POST', body, headers })
      expect(answer.headers.get('Location')).toBe('/dashboard')
    }
  })

  test('svc_next does not hide the page that was asked for', async () => {
    const t = await withMallory(env)
    const victims = await given(t, '/projects/new?from=url')
    victims.set('svc_csrf', (await tokenOf(t, victims.get(visitor)!)).csrf)
    const pairs = [['svc_next', 'x.%2Felsewhere'] as const, ...victims]
    const body = new URLSearchParams({ ...credentials, csrf_token: victims.get('svc_csrf')! })
    const headers = { Accept: 'text/html', Cookie: cookieHeader(pairs) }
    const answer = await t.app.request('/auth/login', { method: 'POST', body, headers })
    expect(answer.headers.get('Location')).toBe('/projects/new?from=url')
  })

  async function tokenOf(t: TestApp, id: string) {
    const headers = { Cookie: `${visitor}=${id}` }
    const answer = await t.app.request('/login', { headers })
    return { csrf: /svc_csrf=([^;]+)/.exec(answer.headers.getSetCookie().join())![1]! }
  }

  test('svc_oauth ends no login that someone else began', async () => {
    const provider = startOAuthProvider()
    onTestFinished(() => provider.stop())
    const t = await withMallory({ ...oauthSettings(provider), ...env })
    const begun = await t.app.request('/auth/oauth')
    const state = new URL(begun.headers.get('Location')!).searchParams.get('state')!
    const mine = /svc_oauth=([^;]+)/.exec(begun.headers.getSetCookie().join())![1]!
    const victims = await given(t)
    for (const planted of [mine, state]) {
      const headers = { Cookie: cookieHeader([['svc_oauth', planted], ...victims]) }
      const back = await t.app.request(`/auth/oauth/callback?code=good&state=${state}`, { headers })
      expect(back.status).toBe(400)
      expect(back.headers.getSetCookie().join()).not.toContain('svc_session')
    }
    expect(provider.exchanges).toEqual([])
  })
})

describe('a session', () => {
  test('that was planted under a longer path does not hide the user’s own', async () => {
    const t = testApp()
    const [ada, mallory] = [t.logIn('ada@example.com'), t.logIn('mallory@example.com')]
    const [own, foreign] = [aSession(t, ada.user.id), aSession(t, mallory.user.id)]
    for (const planted of [foreign, 'junk', '']) {
      // a browser sends the cookie with the longer path first
      const Cookie = cookieHeader([
        ['svc_session', planted],
        ['svc_session', own],
      ])
      const headers = { Cookie, Accept: 'application/json' }
      const answer = await t.app.request('/settings/profile', { headers })
      expect(await answer.json()).toMatchObject({ email: 'ada@example.com' })
    }
  })

  test('counts by its name with the prefix alone once the address is HTTPS', async () => {
    const t = testApp({ DAVIT_URL: 'https://davit.test' })
    const token = aSession(t, t.logIn('ada@example.com').user.id)
    const statusWith = async (name: string) => {
      const headers = { Cookie: `${name}=${token}`, Accept: 'application/json' }
      return (await t.app.request('/settings/profile', { headers })).status
    }
    expect(await statusWith('svc_session')).toBe(401)
    expect(await statusWith('__Host-svc_session')).toBe(200)
  })

  test('counts by its plain name alone where it is not', async () => {
    const t = testApp()
    const token = aSession(t, t.logIn('ada@example.com').user.id)
    const headers = { Cookie: `__Host-svc_session=${token}`, Accept: 'application/json' }
    expect((await t.app.request('/settings/profile', { headers })).status).toBe(401)
  })
})
