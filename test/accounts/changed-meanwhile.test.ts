import { afterEach, describe, expect, mock, spyOn, test } from 'bun:test'
import { startDeviceLogin } from '../../src/accounts/device-login-store.ts'
import { resetPassword } from '../../src/accounts/reset-password.ts'
import { getUserByEmail } from '../../src/accounts/store.ts'
import { shutOut } from '../../src/admin/change-user.ts'
import { apiTokens, deviceLogins, sessions } from '../../src/db/schema.ts'
import { simulatedApp } from '../support/app.ts'
import { ada, registered, Visitor } from './visitor.ts'

afterEach(() => {
  mock.restore()
})

const changes = ['reset', 'disabled'] as const

/** The next call of this kind ends after the password was reset by the operator, or Ada was disabled. */
async function aboutToChange(how: (typeof changes)[number], during: 'verify' | 'hash') {
  const t = simulatedApp()
  const visitor = await registered(t.app, ada)
  await visitor.token()
  const user = getUserByEmail(t.db, ada.email)!
  const original = Bun.password[during] as (...args: unknown[]) => Promise<unknown>
  spyOn(Bun.password, during).mockImplementationOnce((async (...args: unknown[]) => {
    const result = await original(...args)
    if (how === 'disabled') shutOut(t.db, user)
    else await resetPassword(t.db, { user, password: 'another horse battery', by: 'a test' })
    return result
  }) as never)
  const now = () => getUserByEmail(t.db, ada.email)
  return { ...t, visitor, user, now }
}

describe.each(changes)('while a password is compared that is %s then', (how) => {
  test('it logs no one in', async () => {
    const { app, db } = await aboutToChange(how, 'verify')
    const answer = await new Visitor(app).json('/auth/login', ada)
    expect(answer.status).toBe(how === 'reset' ? 401 : 403)
    expect(db.select().from(sessions).all()).toEqual([])
  })

  test('it gives no token', async () => {
    const { db, visitor } = await aboutToChange(how, 'verify')
    const wanted = { name: 'ci', scopes: ['read'], currentPassword: ada.password }
    expect((await visitor.json('/settings/tokens', wanted)).status).toBe(422)
    expect(db.select().from(apiTokens).all()).toEqual([])
  })

  test('it changes no e-mail address', async () => {
    const { visitor, now } = await aboutToChange(how, 'verify')
    const wanted = { email: 'eve@example.com', currentPassword: ada.password }
    expect((await visitor.put('/settings/profile', wanted)).status).toBe(422)
    expect(now()).toBeDefined()
  })

  test('it logs no computer in', async () => {
    const { db, visitor } = await aboutToChange(how, 'verify')
    const { code } = startDeviceLogin(db, { name: 'laptop', address: '198.51.100.7' })
    const wanted = { code, answer: 'allow', currentPassword: ada.password }
    expect((await visitor.json('/settings/device', wanted)).status).toBe(422)
    expect(db.select().from(deviceLogins).all()).toMatchObject([{ userId: null }])
  })

  test.each(['verify', 'hash'] as const)('it sets no other one (%s)', async (during) => {
    const { db, user, visitor, now } = await aboutToChange(how, during)
    const wanted = { password: 'the password of a thief', currentPassword: ada.password }
    const before = user.passwordHash!
    expect((await visitor.put('/settings/password', wanted)).status).toBe(422)
    const { passwordHash } = now()!
    expect(passwordHash === before).toBe(how === 'disabled')
    expect(await Bun.password.verify('the password of a thief', passwordHash!)).toBe(false)
    expect(db.select().from(sessions).all()).toEqual([])
  })
})
