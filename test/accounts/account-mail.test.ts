import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { events, outbox, passwordResets } from '../../src/db/schema.ts'
import { recoverSending } from '../../src/notifications/outbox-store.ts'
import { refuse } from '../notifications/smtp-host.ts'
import type { TestApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { mailing, withBob } from './mailing.ts'
import { ada, bob } from './visitor.ts'

const nothingWaits = ({ db }: Pick<TestApp, 'db'>) =>
  until(() => db.select().from(outbox).where(eq(outbox.kind, 'account_mail')).all().length === 0)

const toldOf = ({ db }: Pick<TestApp, 'db'>) =>
  db.select().from(events).where(eq(events.kind, 'account_mail_failed')).orderBy(events.id).all()

describe('a password reset', () => {
  test('that the mail server refuses is told to admins, once until one is accepted', async () => {
    const answers = [refuse(550, 'No'), refuse(550, 'No'), null]
    const m = await withBob({ onRcptTo: (_, __, done) => done(answers.shift() ?? null) })
    const ask = async () => {
      await m.visitor().json('/auth/forgotten', { email: bob.email })
      await nothingWaits(m.t)
    }
    await ask()
    await ask()
    expect(toldOf(m.t)).toMatchObject([
      { level: 'failure', ownerId: null, subject: bob.email, count: 2, endedAt: null },
    ])
    await ask()
    expect(toldOf(m.t).map(({ level }) => level)).toEqual(['failure', 'resolved'])
  })

  test('whose link expires before its mail is accepted is told to admins', async () => {
    const m = await withBob({ onRcptTo: (_, __, done) => done(refuse(451, 'Greylisted')) })
    await m.visitor().json('/auth/forgotten', { email: bob.email })
    await until(() => m.t.db.select().from(outbox).get()!.tries === 1)
    m.t.db
      .update(passwordResets)
      .set({ expiresAt: new Date(0) })
      .run()
    m.t.outbox.retryNow(m.t.db.select().from(outbox).get()!.lane)
    m.t.outbox.wake()
    await nothingWaits(m.t)
    expect(toldOf(m.t)).toMatchObject([{ level: 'failure', subject: bob.email }])
    expect(toldOf(m.t)[0]!.text).toContain('Greylisted')
  })

  test('that is refused in the moment Davit is killed is told to admins by the next process', async () => {
    let refused = 0
    const m = await withBob({ onRcptTo: (_, __, done) => done(refuse(550, `No ${++refused}`)) })
    m.t.db.run(
      "CREATE TRIGGER broken BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'killed'); END",
    )
    await m.visitor().json('/auth/forgotten', { email: bob.email })
    await until(() => refused === 1)
    await m.t.outbox.idle()
    m.t.db.run('DROP TRIGGER broken')
    recoverSending(m.t.db)
    for (const { lane } of m.t.db.select().from(outbox).all()) m.t.outbox.retryNow(lane)
    await nothingWaits(m.t)
    expect(toldOf(m.t)).toMatchObject([{ level: 'failure', subject: bob.email, count: 1 }])
  })
})

test('an invitation says where its mail stands, and admins are told that it isn’t sent', async () => {
  const answers = [refuse(451, 'Greylisted'), refuse(550, 'No such user'), null]
  const { t, root } = await mailing({ onRcptTo: (_, __, done) => done(answers.shift() ?? null) })
  const { id } = (await root.post('/settings/invites', { email: bob.email })).json
  const mail = async () => (await root.get('/settings/invites')).json.items.at(-1).mail
  await until(() => t.db.select().from(outbox).get()!.tries === 1)
  expect(await mail()).toEqual({
    status: 'waiting',
    answer: expect.stringContaining('Greylisted'),
  })
  t.outbox.retryNow(id)
  t.outbox.wake()
  await nothingWaits(t)
  expect(await mail()).toEqual({
    status: 'failed',
    answer: expect.stringContaining('No such user'),
  })
  expect((await root.page('/settings/invites')).text).toContain('Not mailed')
  expect(toldOf(t)).toMatchObject([
    { level: 'failure', ownerId: null, subject: bob.email, endedAt: null },
  ])
  await root.delete(`/settings/invites/${id}`)
  expect((await root.post('/settings/invites')).json.mail).toBeNull()
  await root.post('/settings/invites', { email: ada.email })
  await nothingWaits(t)
  const { items } = (await root.get('/settings/invites')).json
  expect(items[0].mail).toEqual({ status: 'sent', answer: null })
})
