import { expect, test } from 'bun:test'
import { testApp, withAda } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { everything } from '../support/everything.ts'
import { contentsOf } from '../support/refusals.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { aSession } from '../support/session.ts'
import { addressOf, routesOf } from './walk.ts'

/** A session of the user in a browser of its own, and tokens that were given to it. */
async function aBrowser(t: TestApp, userId: string | null) {
  let cookie = userId ? `svc_session=${aSession(t, userId)}; ` : ''
  const give = async () => {
    const { headers } = await t.app.request('/health', { headers: { Cookie: cookie } })
    const given = headers.getSetCookie().join()
    const visitor = /svc_visitor=[\w-]+/.exec(given)
    if (visitor) cookie = `${visitor[0]}; `
    return /svc_csrf=([^;]+)/.exec(given)![1]!
  }
  const token = await give()
  const other = await give()
  return { cookie, token, other }
}

type Browser = Awaited<ReturnType<typeof aBrowser>>

const held = ({ cookie }: Browser, token: string) => ({ Cookie: `${cookie}svc_csrf=${token}` })
const pair = (browser: Browser, token: string) => ({
  ...held(browser, token),
  'X-CSRF-Token': token,
})

/** What another site, or someone who can plant cookies, can have a browser send. */
async function forgeries(t: TestApp, victim: Browser, attackerId: string) {
  const attacker = await aBrowser(t, attackerId)
  const nobody = await aBrowser(t, null)
  const ended = await aBrowser(t, attackerId)
  await t.app.request('/auth/logout', { method: 'POST', headers: pair(ended, ended.token) })
  const genuine = pair(victim, victim.token)
  const form = (token: string) => new URLSearchParams({ csrf_token: token })
  const cases: Record<string, RequestInit> = {
    'no token': { headers: { Cookie: victim.cookie } },
    'the cookie only': { headers: held(victim, victim.token) },
    'the header only': { headers: { Cookie: victim.cookie, 'X-CSRF-Token': victim.token } },
    'two tokens': { headers: { ...genuine, 'X-CSRF-Token': victim.other } },
    'two tokens, in a form': { headers: held(victim, victim.token), body: form(victim.other) },
    'a planted pair': { headers: pair(victim, `planted.${'0'.repeat(64)}`) },
    'a pair of another session': { headers: pair(victim, attacker.token) },
    'a pair of a session that has ended': { headers: pair(victim, ended.token) },
    'all of a session that has ended': { headers: pair(ended, ended.token) },
    'a pair of no session': { headers: pair(victim, nobody.token) },
    'JSON without a token': {
      headers: { ...held(victim, victim.token), 'Content-Type': 'application/json' },
      body: '{}',
    },
    'text without a token': {
      headers: { ...held(victim, victim.token), 'Content-Type': 'text/plain' },
      body: `csrf_token=${victim.token}`,
    },
    'another origin': { headers: { ...genuine, Origin: 'https://evil.example' } },
    'no origin to speak of': { headers: { ...genuine, Origin: 'null' } },
    'another site': { headers: { ...genuine, 'Sec-Fetch-Site': 'cross-site' } },
    'a neighbour’s site': { headers: { ...genuine, 'Sec-Fetch-Site': 'same-site' } },
  }
  return Object.entries(cases)
}

/** All that changes something, but the receivers of pushes, who know no cookies. */
const changesOf = (t: TestApp) =>
  routesOf(t).filter(
    ({ method, path }) => method !== 'GET' && !/^\/(webhooks|hooks\/registry)\//.test(path),
  )

const state = (t: TestApp) => [contentsOf(t), t.db.$client.query('SELECT id FROM sessions').all()]

test('no change is made for a page of another site, whatever it is and however it is sent', async () => {
  const t = testApp()
  const ada = t.logInAsAdmin('ada@example.com')
  storeServers(t.db, [{}, {}])
  const ids = { ...(await everything(t, ada)), server: serverId(2) }
  const victim = await aBrowser(t, ada.user.id)
  const cases = await forgeries(t, victim, t.logIn('mallory@example.com').user.id)
  const before = state(t)
  const changes = changesOf(t)
  expect(changes.length).toBeGreaterThan(45)
  for (const route of changes)
    for (const [what, init] of cases) {
      const address = addressOf(route, ids)
      const answer = await t.app.request(address, { ...init, method: route.method })
      const sent = `${route.route} with ${what}`
      const isOpen = route.path.startsWith('/auth/') || route.path === '/theme'
      const isEnded = what === 'all of a session that has ended' && !isOpen
      expect(answer.status, sent).toBe(isEnded ? 303 : 403)
      if (isEnded) expect(answer.headers.get('Location'), sent).toBe('/login')
      else {
        const text = await answer.text()
        // a page that has no such form, for there is nothing to do it to, says only that
        if (what.endsWith('in a form') && !text.includes(`action="${address}"`)) continue
        expect(text, sent).toMatch(/CSRF token|sent from another site|Registration is closed/)
      }
    }
  expect(state(t)).toEqual(before)
})

test('no one is logged in, out or registered by another site', async () => {
  const { t, ada } = withAda(testApp({ DAVIT_REGISTRATION: 'open' }))
  const nobody = await aBrowser(t, null)
  const cases = await forgeries(t, nobody, ada.user.id)
  const before = state(t)
  for (const path of ['/auth/login', '/auth/register', '/auth/logout'])
    for (const [what, init] of cases) {
      const { status } = await t.app.request(path, { ...init, method: 'POST' })
      expect(status, `${path} with ${what}`).toBe(403)
    }
  expect(state(t)).toEqual(before)
})
