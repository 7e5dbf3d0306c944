import { describe, expect, test } from 'bun:test'
import type { Context } from 'hono'
import { isLoginAlive } from '../../src/accounts/session.ts'
import { sessions } from '../../src/db/schema.ts'
import { accountsApp, ada, registered } from './visitor.ts'

async function withToken() {
  const t = accountsApp()
  const visitor = await registered(t.app, ada)
  const token = { name: 'ci', scopes: ['write'], currentPassword: ada.password }
  const response = await visitor.json('/settings/tokens', token)
  return { ...t, visitor, made: (await response.json()) as { id: string } }
}

describe('a stream may ask whether the login it came with still holds', () => {
  type Login = { session: { id: string } | null; token: { id: string } | null }
  const user = { role: 'admin' as const }
  const requestOf = (login: Login) =>
    ({ get: (name: keyof Login | 'user') => ({ ...login, user })[name] }) as unknown as Context

  test('which was a token', async () => {
    const t = await withToken()
    const request = requestOf({ session: null, token: t.made })
    expect(isLoginAlive(t.db, request)).toBe(true)
    await t.visitor.delete(`/settings/tokens/${t.made.id}`)
    expect(isLoginAlive(t.db, request)).toBe(false)
  })

  test('which was a session', async () => {
    const t = await withToken()
    const session = t.db.select().from(sessions).get()!
    const request = requestOf({ session, token: null })
    expect(isLoginAlive(t.db, request)).toBe(true)
    await t.visitor.post('/auth/logout')
    expect(isLoginAlive(t.db, request)).toBe(false)
  })

  test('which was none', () => {
    expect(isLoginAlive(accountsApp().db, requestOf({ session: null, token: null }))).toBe(false)
  })
})
