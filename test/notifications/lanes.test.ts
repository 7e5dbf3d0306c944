import { describe, expect, test } from 'bun:test'
import { updateUser } from '../../src/accounts/store.ts'
import { outbox } from '../../src/db/schema.ts'
import { insertStatus } from '../../src/notifications/outbox-store.ts'
import { SendFailure } from '../../src/notifications/senders/sender.ts'
import { ok, receiver, scene } from './scene.ts'
import type { Received } from './scene.ts'
import { mailSettings, refuse, smtpHost } from './smtp-host.ts'

const minute = 60_000
const hour = 60 * minute

const no = () => new Response('no', { status: 503 })
const titleOf = ({ body }: Received) => body.data.title as string

/** Lets time pass, with all attempts in it. */
async function pass({ clock, comes, rows }: ReturnType<typeof scene>, milliseconds: number) {
  for (let passed = 0; passed < milliseconds; passed += minute) {
    await clock.pass(minute)
    await comes(() => rows().every(({ status }) => status !== 'sending'))
  }
}

describe('a message that is never accepted', () => {
  async function poisoned(good: string[]) {
    const s = scene({ starts: false })
    const { received, url } = receiver((one) =>
      titleOf(one) === 'poison' ? new Response('no', { status: 400 }) : ok(),
    )
    s.channel(url)
    for (const title of ['poison', ...good]) s.emit({ title })
    s.start()
    await s.comes(() => s.rows()[0]!.tries === 1)
    const accepted = () => received.map(titleOf).filter((title) => title !== 'poison')
    const attempts = () => received.length - accepted().length
    return { s, accepted, attempts }
  }

  test('keeps those behind it for less than an hour, and is given up alone', async () => {
    const good = ['a', 'b', 'c', 'd', 'e']
    const { s, accepted } = await poisoned(good)
    await pass(s, hour)
    expect(accepted()).toEqual(good)
    await pass(s, 30 * hour)
    expect(s.rows().map(({ status }) => status)).toEqual([
      'failed',
      ...good.map(() => 'sent' as const),
    ])
  })

  test('delays no one once others were accepted, and is not tried more often for them', async () => {
    const { s, accepted, attempts } = await poisoned(['a'])
    await pass(s, 3 * hour)
    const before = attempts()
    for (const title of ['b', 'c', 'd']) {
      s.emit({ title })
      await s.comes(() => s.rows().at(-1)!.status === 'sent')
      await pass(s, minute)
    }
    expect(accepted()).toEqual(['a', 'b', 'c', 'd'])
    expect(attempts()).toBe(before)
  })

  test('is tried once more before what comes later, as its receiver may be back', async () => {
    const { s, accepted, attempts } = await poisoned([])
    await pass(s, hour)
    const before = attempts()
    s.emit({ title: 'later' })
    await s.comes(() => s.rows()[1]!.status === 'sent')
    expect([attempts(), accepted()]).toEqual([before + 1, ['later']])
  })
})

describe('a receiver that is down', () => {
  async function down() {
    const s = scene({ starts: false })
    const { received, url, at } = receiver(no)
    s.channel(url)
    const titles = Array.from({ length: 50 }, (_, i) => `event ${i}`)
    for (const title of titles) s.emit({ title })
    s.start()
    await s.comes(() => s.rows()[0]!.tries === 1)
    return { s, received, at, titles }
  }

  test('is asked a few times a day, however much waits; then all is given up', async () => {
    const { s, received } = await down()
    await pass(s, 30 * hour)
    expect(received.length).toBeLessThan(25)
    expect(new Set(s.rows().map(({ status }) => status))).toEqual(new Set(['failed']))
  })

  test('gets all in order once it is back', async () => {
    const { s, received, at, titles } = await down()
    await pass(s, 12 * hour)
    received.length = 0
    at.answer = ok
    await pass(s, 6 * hour)
    await s.settled('sent')
    expect(received.map(titleOf)).toEqual(titles)
  })
})

test.each([
  ['tried behind another', { tries: 4 }],
  ['sent while others wait for their time', { nextAt: new Date('2100-01-01') }],
])('what is %s is nothing that its reader may no longer see', async (_, others) => {
  const s = scene()
  const root = s.t.logInAsAdmin()
  const { received, url } = receiver(no)
  const ownerId = root.user.id
  s.channel(url, { ownerId })
  for (let i = 0; i < 5; i++) s.emit({ ownerId })
  await s.comes(() => s.rows()[0]!.tries === 1)
  s.db.update(outbox).set(others).run()
  s.emit({ ownerId: null, kind: 'disk_low', title: 'of the server' })
  updateUser(s.db, ownerId, { role: 'member' })
  await pass(s, minute)
  expect(received.map(titleOf)).not.toContain('of the server')
  expect(s.rows().at(-1)!.status).toBe('dropped')
})

test('the sender of what has no log hears of each that is given up, once', async () => {
  const s = scene({ starts: false })
  const over: string[] = []
  let attempts = 0
  s.t.outbox.handle('commit_status', async () => ({
    isKept: false,
    plan: () => ({ most: 1 }),
    async send() {
      attempts++
      throw new SendFailure('commit_status', 'an internal error', '', { retry: true })
    },
    failed:
      (_, { first }, { isLast }) =>
      () =>
        void (isLast && over.push(first.subjectId!)),
  }))
  const all = Array.from({ length: 30 }, (_, i) => `${i}`)
  for (const subjectId of all)
    insertStatus(s.db, { ownerId: s.ada.user.id, lane: 'project', subjectId })
  s.start()
  await s.comes(() => attempts === 1)
  await pass(s, 30 * hour)
  expect(s.rows()).toEqual([])
  expect(over.toSorted()).toEqual(all.toSorted())
})

test('statuses of a provider that hangs again leave a slot to those of another', async () => {
  const s = scene({ starts: false })
  let hangs = Promise.resolve()
  let asked = 0
  const sent: string[] = []
  s.t.outbox.handle('commit_status', async () => ({
    isKept: false,
    plan: () => ({ most: 1 }),
    async send({ lane }) {
      if (lane === 'good') return { answer: 'ok', store: () => void sent.push(lane) }
      asked++
      await hangs
      throw new SendFailure('commit_status', 'no response', '', { retry: true })
    },
  }))
  const insert = (lane: string) =>
    insertStatus(s.db, { ownerId: s.ada.user.id, lane, subjectId: lane })
  for (const lane of ['a', 'b', 'c']) insert(lane)
  s.start()
  await s.comes(() => s.rows().every(({ tries, status }) => tries === 1 && status === 'waiting'))
  const { promise, resolve } = Promise.withResolvers<void>()
  hangs = promise
  asked = 0
  await s.clock.pass(minute)
  await s.comes(() => asked > 0)
  insert('good')
  await s.comes(() => sent.length === 1)
  expect(asked).toBe(1)
  resolve()
})

describe('once a receiver works again', () => {
  /** A channel whose message was given up after a day, so that it waits for hours. */
  async function givenUp() {
    const s = scene()
    const { received, url, at } = receiver(no)
    const channel = s.channel(url)
    s.emit({ title: 'given up' })
    await s.comes(() => s.rows()[0]!.tries === 1)
    await s.ends('failed')
    at.answer = ok
    received.length = 0
    const titles = () => received.map(titleOf)
    return { s, channel, titles }
  }

  test('“Send again” sends at once', async () => {
    const { s, titles } = await givenUp()
    await s.ada.post(`/settings/events/${s.events()[0]!.id}/send`)
    await s.settled('sent')
    expect(titles()).toEqual(['given up'])
  })

  test('a test that it accepts sends at once what waits', async () => {
    const { s, channel, titles } = await givenUp()
    s.emit({ title: 'waits' })
    await s.ada.post(`/settings/channels/${channel}/test`)
    await s.settled('failed', 'sent')
    expect(titles()).toEqual(['A test from Davit', 'waits'])
  })
})

test('a channel that is changed while a message is on its way does not wait for hours if that fails', async () => {
  const s = scene()
  const hung = Promise.withResolvers<void>()
  const old = receiver(() => hung.promise.then(no))
  const { received, url } = receiver()
  const channel = s.channel(old.url)
  s.emit()
  s.db.update(outbox).set({ tries: 6 }).run()
  await s.comes(() => old.received.length === 1)
  expect((await s.ada.put(`/settings/channels/${channel}`, { url })).status).toBe(200)
  hung.resolve()
  await s.settled('sent')
  expect([old.received, received].map(({ length }) => length)).toEqual([1, 1])
})

test('a mail that some lack is sent to those of them who are still recipients, and to who was added', async () => {
  const s = scene({ env: { DAVIT_ALLOW_HOSTS: '127.0.0.1' } })
  const [ada, bob, cleo] = ['ada@example.com', 'bob@example.com', 'cleo@example.com']
  let isGrey = true
  const { port, mails } = await smtpHost({
    onRcptTo: ({ address }, _, done) =>
      done(isGrey && address === bob ? refuse(451, 'Greylisted') : null),
  })
  const { json } = await s.ada.post('/settings/channels', {
    ...{ name: 'mail', events: ['deployment_failed'] },
    ...{ ...mailSettings(port), kind: 'email', trust: 'any', to: [ada, bob] },
  })
  for (const to of [[ada, cleo], [ada]]) {
    await s.ada.put(`/settings/channels/${json.id}`, { to: [ada, bob] })
    isGrey = true
    s.emit()
    await s.comes(() => s.rows().at(-1)!.tries === 1)
    isGrey = false
    await s.ada.put(`/settings/channels/${json.id}`, { to })
    await s.settled('sent')
    await s.clock.pass(1000)
  }
  expect(mails.map(({ to }) => to)).toEqual([[ada], [cleo], [ada]])
})
