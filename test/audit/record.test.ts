import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { recordEvent } from '../../src/audit/record.ts'
import type { Occurrence } from '../../src/audit/record.ts'
import { dropOldEvents } from '../../src/audit/store.ts'
import { openDatabase } from '../../src/db/index.ts'
import { auditEvents, users } from '../../src/db/schema.ts'
import { testApp } from '../support/app.ts'
import type { TestApp } from '../support/app.ts'
import { accountsApp, ada, asToken, bob, registered, Visitor } from '../accounts/visitor.ts'

const day = 24 * 3_600_000

afterEach(() => {
  setSystemTime()
})

const logout: Occurrence = { actor: { id: null, email: ada.email }, action: 'logout' }

describe('an event', () => {
  test('is kept with all that is known of it', () => {
    const db = openDatabase(':memory:')
    recordEvent(db, {
      actor: { id: 'a', email: ada.email },
      action: 'variable.changed',
      object: { kind: 'variable', id: 'v', name: 'DATABASE_URL' },
      address: '203.0.113.9',
      details: { environment: 'production' },
    })
    expect(db.select().from(auditEvents).all()).toEqual([
      {
        id: expect.any(String),
        actorId: 'a',
        actor: ada.email,
        action: 'variable.changed',
        objectKind: 'variable',
        objectId: 'v',
        objectName: 'DATABASE_URL',
        address: '203.0.113.9',
        details: { environment: 'production' },
        createdAt: expect.any(Date),
      },
    ])
  })

  test('is not kept when the action is undone', () => {
    const db = openDatabase(':memory:')
    const undone = () =>
      db.transaction((tx) => {
        recordEvent(tx, logout)
        throw new Error('undone')
      })
    expect(undone).toThrow('undone')
    expect(db.select().from(auditEvents).all()).toEqual([])
  })

  test('outlives the user, and is dropped after 400 days', () => {
    const db = openDatabase(':memory:')
    const user = db.insert(users).values({ email: ada.email, role: 'admin' }).returning().get()
    recordEvent(db, { ...logout, actor: user })
    db.delete(users).run()
    const start = Date.now()
    setSystemTime(new Date(start + 399 * day))
    dropOldEvents(db)
    expect(db.select().from(auditEvents).all()).toHaveLength(1)
    setSystemTime(new Date(start + 401 * day))
    recordEvent(db, logout)
    dropOldEvents(db)
    expect(db.select().from(auditEvents).all()).toMatchObject([{ actorId: null }])
  })
})

describe('of accounts is recorded', () => {
  /** What happened since, oldest first, as far as a line can say it. */
  function recorder<App extends Pick<TestApp, 'db'>>(t: App) {
    const happened = () => {
      const rows = t.db.select().from(auditEvents).all()
      t.db.delete(auditEvents).run()
      return rows.map(({ action, actor, objectName }) =>
        [actor, action, objectName].filter(Boolean).join(' '),
      )
    }
    return { ...t, happened }
  }

  test('coming in, failing to, and going out', async () => {
    const { app, happened, db } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    const visitor = await registered(app, ada)
    await visitor.post('/auth/logout')
    await visitor.post('/auth/logout')
    const elsewhere = new Visitor(app, '203.0.113.9')
    await elsewhere.json('/auth/login', { ...ada, password: 'a wrong one' })
    expect(db.select().from(auditEvents).all().at(-1)).toMatchObject({
      actorId: db.select().from(users).get()!.id,
      address: '203.0.113.9',
    })
    await elsewhere.json('/auth/login', bob)
    await elsewhere.json('/auth/login', ada)
    expect(happened()).toEqual([
      `${ada.email} user.registered`,
      `${ada.email} logout`,
      `${ada.email} login.failed`,
      `${bob.email} login.failed`,
      `${ada.email} login.succeeded`,
    ])
  })

  test('no password that was typed where the e-mail goes', async () => {
    const { app, happened, db } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    await new Visitor(app).json('/auth/login', { email: 'hunter2 is my secret', password: 'x' })
    expect(happened()).toEqual(['someone login.failed'])
    expect(JSON.stringify(db.select().from(auditEvents).all())).not.toContain('hunter2')
  })

  test('what users do to themselves', async () => {
    const { app, happened } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    const visitor = await registered(app, ada)
    await new Visitor(app).json('/auth/login', ada)
    await visitor.delete('/settings/sessions')
    const currentPassword = ada.password
    await visitor.put('/settings/profile', {
      email: 'new@example.com',
      name: 'Ada',
      currentPassword,
    })
    await visitor.put('/settings/profile', { name: 'Ada', currentPassword })
    await visitor.put('/settings/password', { password: 'another horse', currentPassword })
    await visitor.put('/settings/password', { password: 'another horse', currentPassword })
    expect(happened().slice(2)).toEqual([
      `${ada.email} sessions.ended`,
      `${ada.email} email.changed new@example.com`,
      `${ada.email} profile.changed Ada`,
      'new@example.com password.changed',
    ])
  })

  test('one session that is ended, by the browser it was in', async () => {
    const { app, happened } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    const visitor = await registered(app, ada)
    const headers = { 'User-Agent': 'Firefox/140.0 (Linux)' }
    await new Visitor(app).json('/auth/login', ada, { headers })
    const list = await visitor.get('/settings/sessions', { accept: 'application/json' })
    const { items } = (await list.json()) as { items: { id: string; current: boolean }[] }
    await visitor.delete(`/settings/sessions/${items.find(({ current }) => !current)!.id}`)
    expect(happened().at(-1)).toBe(`${ada.email} session.ended Firefox on Linux`)
  })

  test('tokens, with their scopes and without their text', async () => {
    const { app, happened, db } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    const visitor = await registered(app, ada)
    const body = { name: 'ci', scopes: ['deploy', 'read'], currentPassword: ada.password }
    const made = await visitor.json('/settings/tokens', body)
    const { id, token } = (await made.json()) as { id: string; token: string }
    await visitor.delete(`/settings/tokens/${id}`)
    const rows = db.select().from(auditEvents).all()
    expect(rows[1]!.details).toEqual({ scopes: 'read, deploy' })
    expect(JSON.stringify(rows)).not.toContain(token)
    expect(happened().slice(1)).toEqual([
      `${ada.email} token.created ci`,
      `${ada.email} token.revoked ci`,
    ])
  })

  test('what admins do: invitations, roles, the end of users', async () => {
    const { app, happened, db } = recorder(testApp({ DAVIT_REGISTRATION: 'invite' }))
    const admin = await registered(app, ada)
    const invite = await admin.json('/settings/invites')
    const { url } = (await invite.json()) as { url: string }
    await registered(app, bob, { invite: new URL(url).searchParams.get('invite') })
    const { id } = db
      .select()
      .from(users)
      .all()
      .find(({ email }) => email === bob.email)!
    const second = await admin.json('/settings/invites')
    await admin.delete(`/settings/invites/${((await second.json()) as { id: string }).id}`)
    const path = `/settings/users/${id}`
    await admin.put(path, { role: 'admin', disabled: true })
    await admin.put(path, { role: 'admin' })
    await admin.put(path, { role: 'member', disabled: false })
    await admin.put(`/settings/users/${Bun.randomUUIDv7()}`, { role: 'admin' })
    await admin.delete(path)
    expect(happened().slice(1)).toEqual([
      `${ada.email} invite.created`,
      `${bob.email} user.registered`,
      `${ada.email} invite.created`,
      `${ada.email} invite.revoked`,
      `${ada.email} user.promoted ${bob.email}`,
      `${ada.email} user.disabled ${bob.email}`,
      `${ada.email} user.demoted ${bob.email}`,
      `${ada.email} user.enabled ${bob.email}`,
      `${ada.email} user.deleted ${bob.email}`,
    ])
  })

  test('no value of a secret: not one password, token or invitation is in the rows', async () => {
    const { app, db } = recorder(accountsApp({ env: { DAVIT_REGISTRATION: 'invite' } }))
    const visitor = await registered(app, ada)
    const invite = (await (await visitor.json('/settings/invites')).json()) as { url: string }
    await visitor.json('/settings/tokens', {
      name: 'ci',
      scopes: ['read'],
      currentPassword: ada.password,
    })
    await visitor.put('/settings/password', {
      password: 'another horse',
      currentPassword: ada.password,
    })
    const rows = JSON.stringify(db.select().from(auditEvents).all())
    expect(rows).toContain('password.changed')
    for (const secret of [ada.password, 'another horse', 'dvt_', invite.url.slice(-43)])
      expect(rows).not.toContain(secret)
    expect(rows).not.toContain(visitor.cookies.get('svc_session')!)
  })
})

test('what a token did names the token', async () => {
  const t = accountsApp()
  const visitor = await registered(t.app, ada)
  const made = await visitor.json('/settings/tokens', {
    name: 'ci',
    scopes: ['write'],
    currentPassword: ada.password,
  })
  const { token } = (await made.json()) as { token: string }
  await asToken(t.app, token)('POST', '/dashboard')
  expect(t.db.select().from(auditEvents).all().at(-1)).toMatchObject({
    actor: ada.email,
    action: 'deployment.triggered',
    details: { dry_run: 'yes', token: 'ci' },
  })
})
