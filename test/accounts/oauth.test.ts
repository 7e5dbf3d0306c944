import { expect, onTestFinished, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { resetPassword } from '../../src/accounts/reset-password.ts'
import { findUser } from '../../src/accounts/store.ts'
import { shutOut } from '../../src/admin/change-user.ts'
import { deleteUser } from '../../src/admin/store.ts'
import { identities, users } from '../../src/db/schema.ts'
import { testApp } from '../support/app.ts'
import { contentsOf } from '../support/refusals.ts'
import { oauthSettings, startOAuthProvider } from './oauth-provider.ts'
import { cheap, Visitor } from './visitor.ts'

const password = 'correct horse battery'

/** A Davit that logs in with a provider of our own, whose people may register. */
function davit(env: Record<string, string> = {}) {
  const provider = startOAuthProvider()
  onTestFinished(() => provider.stop())
  const t = testApp({ ...oauthSettings(provider), ...env })
  const owner = t.logIn('owner@example.com')
  const passwordHash = Bun.password.hashSync(password, cheap)
  t.db.update(users).set({ passwordHash }).where(eq(users.id, owner.user.id)).run()
  return { ...t, provider, owner, visitor: () => new Visitor(t.app) }
}

/** Goes to the provider and says yes there; returns where the browser is sent back to. */
async function consent(visitor: Visitor, path = '/auth/oauth') {
  const begun = await visitor.get(path)
  return new URL(begun.headers.get('Location')!)
}

const callback = (authorize: URL, code = 'good') =>
  `/auth/oauth/callback?code=${code}&state=${authorize.searchParams.get('state')}`

test('a login begins at the provider with a state, PKCE and our own address', async () => {
  const t = davit()
  const authorize = await consent(t.visitor())
  expect(authorize.origin + authorize.pathname).toBe(`${t.provider.url}/login/oauth/authorize`)
  expect(Object.fromEntries(authorize.searchParams)).toMatchObject({
    client_id: 'davit',
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: 'http://davit.test/auth/oauth/callback',
  })
  expect(authorize.searchParams.get('state')!.length).toBeGreaterThan(22)
})

test('who comes back for the first time gets an account, and later the same one', async () => {
  const t = davit()
  const [first, second] = [t.visitor(), t.visitor()]
  const arrived = await first.get(callback(await consent(first)))
  expect([arrived.status, arrived.headers.get('Location')]).toEqual([303, '/dashboard'])
  t.provider.user.login = 'renamed'
  t.provider.user.emails = [{ email: 'other@example.com', primary: true, verified: true }]
  await second.get(callback(await consent(second)))
  const me = async (visitor: Visitor) =>
    (await visitor.get('/dashboard', { accept: 'application/json' })).status
  expect([await me(first), await me(second)]).toEqual([200, 200])
  expect(t.db.$client.query('SELECT email FROM users ORDER BY email').values()).toEqual([
    ['grace@example.com'],
    ['owner@example.com'],
  ])
})

test('the code is exchanged with its verifier and our secret, and the token is sealed', async () => {
  const t = davit()
  const visitor = t.visitor()
  const authorize = await consent(visitor)
  await visitor.get(callback(authorize))
  const [sent] = t.provider.exchanges
  expect(sent).toMatchObject({
    code: 'good',
    client_secret: 'hush',
    grant_type: 'authorization_code',
  })
  const hash = new Bun.CryptoHasher('sha256').update(sent!['code_verifier']!).digest('base64url')
  expect(hash).toBe(authorize.searchParams.get('code_challenge')!)
  expect(JSON.stringify(t.db.$client.query('SELECT * FROM identities').all())).not.toContain(
    'token-1',
  )
})

test.each([
  ['no state', () => '/auth/oauth/callback?code=good'],
  ['a state that nobody gave', () => '/auth/oauth/callback?code=good&state=made-up'],
  ['two states', (url: URL) => `${callback(url)}&state=${url.searchParams.get('state')}`],
  ['no code', (url: URL) => callback(url).replace('code=good', 'x=1')],
  ['a no', (url: URL) => callback(url).replace('code=good', 'error=access_denied')],
])(
  'a return with %s is refused with an explanation, and the provider is not asked',
  async (_, back) => {
    const t = davit()
    const visitor = t.visitor()
    const answer = await visitor.get(back(await consent(visitor)))
    expect(answer.status).toBe(400)
    expect(t.provider.exchanges).toEqual([])
    expect(visitor.cookies.has('svc_session')).toBe(false)
  },
)

test('a state is good in the browser that got it, and only once', async () => {
  const t = davit()
  const [mine, other] = [t.visitor(), t.visitor()]
  const authorize = await consent(mine)
  await consent(other)
  expect((await other.get(callback(authorize))).status).toBe(400)
  const state = mine.cookies.get('svc_oauth')!
  expect((await mine.get(callback(authorize))).status).toBe(303)
  mine.cookies.set('svc_oauth', state)
  expect((await mine.get(callback(authorize))).status).toBe(400)
  expect(t.provider.exchanges).toHaveLength(1)
})

test('a state is good for ten minutes', async () => {
  const t = davit()
  const visitor = t.visitor()
  const authorize = await consent(visitor)
  t.db.$client.run('UPDATE oauth_attempts SET created_at = created_at - 600001')
  expect((await visitor.get(callback(authorize))).status).toBe(400)
})

test.each([
  [
    'the address of an account here',
    [{ email: 'OWNER@example.com', primary: true, verified: true }],
    409,
  ],
  ['an unverified address', [{ email: 'grace@example.com', primary: true, verified: false }], 403],
  [
    'a verified address that is not the primary one',
    [{ email: 'g@example.com', primary: false, verified: true }],
    403,
  ],
  ['no address', [], 403],
])('%s opens no account', async (_, emails, status) => {
  const t = davit()
  t.provider.user.emails = emails
  const visitor = t.visitor()
  expect((await visitor.get(callback(await consent(visitor)))).status).toBe(status)
  expect(visitor.cookies.has('svc_session')).toBe(false)
  expect(t.db.$client.query('SELECT count(*) FROM identities').values()).toEqual([[0]])
})

test('where registration is closed, a stranger stays outside', async () => {
  const t = davit({ DAVIT_REGISTRATION: 'closed' })
  const visitor = t.visitor()
  expect((await visitor.get(callback(await consent(visitor)))).status).toBe(403)
})

test('a provider that refuses its own token is said to, and no one is told to make another', async () => {
  const t = davit()
  t.provider.mode = 'void token'
  const visitor = t.visitor()
  const answer = await visitor.get(callback(await consent(visitor)))
  expect(answer.status).toBe(502)
  expect(await answer.text()).toContain(
    'The provider responded with status 401 when asked for your profile. Try to log in again.',
  )
})

test.each(['refused with 200', 'html', 'outage', 'huge'] as const)(
  'a provider that answers wrongly (%s) is said to be in trouble',
  async (mode) => {
    const t = davit()
    t.provider.mode = mode
    const visitor = t.visitor()
    const answer = await visitor.get(callback(await consent(visitor)))
    expect(answer.status).toBe(502)
    expect(await answer.text()).not.toContain('bad_verification_code')
  },
)

test('a user links the login while logged in, and unlinks it while a password is left', async () => {
  const t = davit()
  const authorize = new URL(
    (await t.owner.form('/settings/identities', { current_password: password })).headers.get(
      'Location',
    )!,
  )
  const linked = await t.owner.send(callback(authorize))
  expect(linked.headers.get('Location')).toBe('/settings/profile')
  const visitor = t.visitor()
  await visitor.get(callback(await consent(visitor)))
  expect((await visitor.get('/dashboard')).status).toBe(200)

  const [[id]] = t.db.$client.query('SELECT id FROM identities').values() as [[string]]
  expect((await t.owner.delete(`/settings/identities/${id}`)).status).toBe(200)
  expect((await t.owner.delete(`/settings/identities/${id}`)).status).toBe(404)
})

test.each(['reset', 'disabled', 'deleted'] as const)(
  'an account that is %s while the provider is asked gets no login linked',
  async (how) => {
    const t = davit()
    const begun = await t.owner.form('/settings/identities', { current_password: password })
    const { user } = t.owner
    t.provider.beforeProfile = async () => {
      if (how === 'reset')
        await resetPassword(t.db, { user, password: 'another horse battery', by: 'a test' })
      if (how === 'disabled') shutOut(t.db, findUser(t.db, user.id))
      if (how === 'deleted') deleteUser(t.db, user.id)
    }
    const linked = await t.owner.send(callback(new URL(begun.headers.get('Location')!)))
    expect(linked.status).toBe(400)
    expect(t.db.select().from(identities).all()).toEqual([])
  },
)

test('the last way to log in can’t be removed', async () => {
  const t = davit()
  const visitor = t.visitor()
  await visitor.get(callback(await consent(visitor)))
  const [[id]] = t.db.$client.query('SELECT id FROM identities').values() as [[string]]
  expect((await visitor.delete(`/settings/identities/${id}`)).status).toBe(409)
  expect((await t.owner.delete(`/settings/identities/${id}`)).status).toBe(404)
})

test('an identity of one user is not linked to another', async () => {
  const t = davit()
  const visitor = t.visitor()
  await visitor.get(callback(await consent(visitor)))
  const authorize = new URL(
    (await t.owner.form('/settings/identities', { current_password: password })).headers.get(
      'Location',
    )!,
  )
  expect((await t.owner.send(callback(authorize))).status).toBe(409)
})

test('without a provider in the settings there is no such page', async () => {
  const t = testApp()
  const visitor = new Visitor(t.app)
  expect((await visitor.get('/auth/oauth')).status).toBe(404)
  expect((await visitor.get('/auth/oauth/callback?code=x&state=y')).status).toBe(404)
})

test('linking is begun by a form with the password, and no address begins it', async () => {
  const t = davit()
  const attempts = () => t.db.$client.query('SELECT count(*) FROM oauth_attempts').values()
  const before = contentsOf(t)
  for (const path of ['/auth/oauth?link=1', '/auth/oauth']) {
    const answer = await t.owner.page(path)
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/dashboard'])
    expect(answer.headers.getSetCookie()).toEqual([])
  }
  for (const given of ['', 'not the password']) {
    const answer = await t.owner.form('/settings/identities', { current_password: given })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('id="link-password-error"')
  }
  expect(attempts()).toEqual([[0]])
  const scripted = await t.owner.htmx('POST', '/settings/identities', {
    current_password: password,
  })
  expect(scripted.headers.get('HX-Redirect')).toStartWith(`${t.provider.url}/login/oauth/authorize`)
  expect(attempts()).toEqual([[1]])
  const kept = (rows: unknown[]) =>
    (rows as [string][]).filter(([name]) => !/attempts|failures/.test(name))
  expect(kept(contentsOf(t))).toEqual(kept(before))
})
