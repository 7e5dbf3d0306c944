import { describe, expect, test } from 'bun:test'
import { resetPassword } from '../../src/accounts/reset-password.ts'
import { getUserByEmail } from '../../src/accounts/store.ts'
import { insertIdentity } from '../../src/accounts/identity-store.ts'
import { apiTokens } from '../../src/db/schema.ts'
import { accountsApp, ada, asToken, registered } from './visitor.ts'

const wanted = { name: 'ci', scopes: ['write'] }

describe('a new token needs the password of users who have one', () => {
  test.each([[undefined], [null], [''], ['not the password'], [7]])('not %p', async (given) => {
    const { app, db } = accountsApp()
    const visitor = await registered(app, ada)
    const answer = await visitor.json('/settings/tokens', { ...wanted, currentPassword: given })
    expect(answer.status).toBe(422)
    expect(await answer.json()).toMatchObject({ errors: [{ field: 'currentPassword' }] })
    expect(db.select().from(apiTokens).all()).toEqual([])
  })

  test('and counts guesses as the login does', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const guess = { ...wanted, currentPassword: 'not the password' }
    for (let i = 0; i < 5; i++)
      expect((await visitor.json('/settings/tokens', guess)).status).toBe(422)
    const right = { ...wanted, currentPassword: ada.password }
    expect((await visitor.json('/settings/tokens', right)).status).toBe(429)
  })

  test('its form asks for it, and does not give it back', async () => {
    const visitor = await registered(accountsApp().app, ada)
    const asked = await (await visitor.htmx('GET', '/settings/tokens/new')).text()
    expect(asked).toMatch(/<input[^>]*name="current_password"[^>]*type="password"/)
    const guess = { name: 'ci', scopes: 'read', current_password: 'not the password' }
    const again = await visitor.htmx('POST', '/settings/tokens', guess)
    const html = await again.text()
    expect(html).toContain('token-password-error')
    expect(html).not.toContain('not the password')
  })
})

test('a password reset by the operator ends sessions, tokens and linked logins', async () => {
  const { app, db } = accountsApp()
  const visitor = await registered(app, ada)
  const body = { ...wanted, currentPassword: ada.password }
  const { token } = (await (await visitor.json('/settings/tokens', body)).json()) as any
  const user = getUserByEmail(db, ada.email)!
  const identity = { provider: 'github', baseUrl: 'https://github.com', login: 'ada' } as const
  insertIdentity(db, {
    ...identity,
    userId: user.id,
    providerUserId: '7',
    accessToken: 'sealed',
  })
  expect((await asToken(app, token)('GET', '/dashboard')).status).toBe(200)
  await resetPassword(db, { user, password: 'another horse battery', by: 'a test' })
  expect((await asToken(app, token)('GET', '/dashboard')).status).toBe(401)
  expect((await visitor.get('/dashboard')).status).toBe(303)
  expect(db.$client.query('SELECT count(*) FROM identities').values()).toEqual([[0]])
})
