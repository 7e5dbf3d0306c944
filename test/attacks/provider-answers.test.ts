import { describe, expect, onTestFinished, test } from 'bun:test'
import { oauthSettings, startOAuthProvider } from '../accounts/oauth-provider.ts'
import { Visitor } from '../accounts/visitor.ts'
import { testApp } from '../support/app.ts'

type Provider = ReturnType<typeof startOAuthProvider>

function aProvider(user: Partial<Provider['user']> = {}) {
  const provider = startOAuthProvider()
  onTestFinished(() => provider.stop())
  Object.assign(provider.user, user)
  return provider
}

function davit(provider: Provider) {
  const t = testApp(oauthSettings(provider))
  const owner = t.logIn('owner@example.com')
  return { ...t, owner, logInThere: () => logInThere(t) }
}

/** Who one is logged in as, or the status of the refusal. */
async function logInThere({ app, db }: ReturnType<typeof testApp>) {
  const visitor = new Visitor(app)
  const begun = await visitor.get('/auth/oauth')
  const state = new URL(begun.headers.get('Location')!).searchParams.get('state')
  const { status } = await visitor.get(`/auth/oauth/callback?code=good&state=${state}`)
  if (!visitor.cookies.has('svc_session')) return status
  const { email } = db.$client
    .query<{ email: string }, []>(
      'SELECT email FROM sessions JOIN users ON users.id = user_id ORDER BY sessions.id DESC',
    )
    .get()!
  return email
}

const verified = (email: unknown) => [{ email: email as string, primary: true, verified: true }]

describe('the account that has the e-mail already stays closed', () => {
  test.each([
    'owner@example.com',
    'OWNER@Example.COM',
    ' owner@example.com',
    'owner@example.com ',
    'owner@example.com\t',
  ])('to %p of a provider', async (email) => {
    const t = davit(aProvider({ emails: verified(email) }))
    expect(await t.logInThere()).toBeOneOf([403, 409])
    expect(t.db.$client.query('SELECT count(*) FROM identities').values()).toEqual([[0]])
    expect(t.db.$client.query('SELECT email FROM users').values()).toEqual([['owner@example.com']])
  })

  test('but another mailbox of the same host is another person', async () => {
    const t = davit(aProvider({ emails: verified('owner+davit@example.com') }))
    expect(await t.logInThere()).toBe('owner+davit@example.com')
  })
})

test.each([
  [null, 'null'],
  ['', 'nothing'],
  [7, 'a number'],
  ['no address', 'a text that is no address'],
  ['"><script>alert(1)</script>', 'markup'],
  ['a@b\r\nBcc: x@example.com', 'two lines'],
])('an e-mail that is %p opens no account (%s)', async (email) => {
  const t = davit(aProvider({ emails: verified(email) }))
  expect(await t.logInThere()).toBeOneOf([403, 502])
  expect(t.db.$client.query('SELECT count(*) FROM users').values()).toEqual([[1]])
})

test('the address that is primary counts, wherever it stands in the list', async () => {
  const emails = [
    { email: 'first@example.com', primary: false, verified: true },
    { email: 'grace@example.com', primary: true, verified: true },
  ]
  expect(await davit(aProvider({ emails })).logInThere()).toBe('grace@example.com')
})

test('a name that somebody else took over leads to an account of their own', async () => {
  const provider = aProvider()
  const t = davit(provider)
  expect(await t.logInThere()).toBe('grace@example.com')
  Object.assign(provider.user, { id: 8, login: 'grace', emails: verified('other@example.com') })
  expect(await t.logInThere()).toBe('other@example.com')
  Object.assign(provider.user, { id: 7, login: 'renamed', emails: verified('new@example.com') })
  expect(await t.logInThere()).toBe('grace@example.com')
})

test('the same number at two providers is two people', async () => {
  const [one, two] = [aProvider(), aProvider({ emails: verified('other@example.com') })]
  const t = davit(one)
  expect(await t.logInThere()).toBe('grace@example.com')
  t.deps.config.oauth!.baseUrl = two.url
  expect(await t.logInThere()).toBe('other@example.com')
  expect(t.db.$client.query('SELECT count(*) FROM identities').values()).toEqual([[2]])
})
