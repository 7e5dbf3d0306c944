import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { eq, ne } from 'drizzle-orm'
import { updateUser } from '../../src/accounts/store.ts'
import { outbox } from '../../src/db/schema.ts'
import { insertStatus } from '../../src/notifications/outbox-store.ts'
import { failed, ok, receiver, scene } from './scene.ts'

const minute = 60_000

test('an event is sent once, signed, with what happened and what to do', async () => {
  const s = scene()
  const { received, url } = receiver()
  const channel = s.channel(url)
  s.emit()
  await s.settled('sent')
  const [{ id, body, headers }] = received as [(typeof received)[0]]
  expect(body).toMatchObject({
    type: 'deployment_failed',
    data: { title: failed.title, text: failed.text, todo: failed.todo, level: 'failure' },
  })
  const signed = `${id}.${headers.get('webhook-timestamp')}.${JSON.stringify(body)}`
  const key = Buffer.alloc(32, 7)
  const signature = createHmac('sha256', key).update(signed).digest('base64')
  expect(headers.get('webhook-signature')).toBe(`v1,${signature}`)
  expect(s.rows(channel)).toMatchObject([
    { status: 'sent', answer: '200', tries: 0, messageId: id },
  ])
  expect(received).toHaveLength(1)
})

test('what is rolled back is never sent', async () => {
  const s = scene()
  const { received, url } = receiver()
  s.channel(url)
  expect(() =>
    s.db.transaction(() => {
      s.emit()
      throw new Error('undone')
    }),
  ).toThrow('undone')
  s.emit({ title: 'another' })
  await s.settled('sent')
  expect(received.map(({ body }) => body.data.title)).toEqual(['another'])
})

describe('a receiver that fails', () => {
  test('gets the same message again after a while, with the same id, and before what is newer', async () => {
    const s = scene()
    const { received, url, at } = receiver(() => new Response('no', { status: 500 }))
    s.channel(url)
    s.emit()
    await s.comes(() => s.rows()[0]!.tries === 1)
    s.emit({ title: 'newer' })
    await s.clock.pass(4000)
    expect(received).toHaveLength(1)
    await s.clock.pass(1000)
    await s.comes(() => s.rows()[0]!.tries === 2)
    at.answer = ok
    await s.clock.pass(30_000)
    await s.settled('sent')
    expect(received.map(({ body }) => body.data.title)).toEqual([
      ...[failed.title, failed.title, failed.title],
      'newer',
    ])
    expect(new Set(received.map(({ id }) => id)).size).toBe(2)
    expect(s.rows().map(({ uncertain }) => uncertain)).toEqual([false, false])
  })

  test('is given up after a day, with the reason', async () => {
    const s = scene()
    const { received, url } = receiver(() => new Response('no', { status: 503 }))
    s.channel(url)
    s.emit()
    await s.comes(() => s.rows()[0]!.tries === 1)
    expect(await s.ends('failed')).toBeGreaterThan(24 * 60 * minute)
    expect(s.rows()[0]!.answer).toContain('503')
    expect(received.length).toBeGreaterThan(5)
  })

  test('is not asked again what it refused for good', async () => {
    const s = scene()
    const { received, url } = receiver(() => new Response('gone', { status: 410 }))
    s.channel(url)
    s.emit()
    await s.settled('failed')
    await s.clock.pass(24 * 60 * minute)
    expect(received).toHaveLength(1)
  })

  test('redirects to a private address: it is not followed, and told', async () => {
    const s = scene()
    const inner = receiver()
    const { url } = receiver(() =>
      Response.redirect(inner.url.replace('127.0.0.1', 'localhost'), 307),
    )
    s.channel(url)
    s.emit()
    await s.settled('failed')
    expect(inner.received).toEqual([])
    expect(s.rows()[0]!.answer).toContain('redirects')
  })

  test('hangs: others are not held up', async () => {
    const s = scene()
    const hung = Promise.withResolvers<void>()
    const slow = receiver(() => hung.promise.then(ok))
    const quick = receiver()
    const stuck = s.channel(slow.url)
    s.channel(quick.url)
    s.emit()
    await s.comes(() => slow.received.length === 1 && quick.received.length === 1)
    for (let i = 0; i < 5; i++) s.emit()
    await s.comes(() => quick.received.length === 6)
    expect(
      s
        .rows(stuck)
        .map(({ status }) => status)
        .join(' '),
    ).toBe(`sending${' waiting'.repeat(5)}`)
    hung.resolve()
    await s.settled('sent')
    expect(slow.received).toHaveLength(6)
  })
})

test('a git provider that hangs leaves its owner’s messages their slots', async () => {
  const s = scene({ starts: false })
  const hung = Promise.withResolvers<void>()
  let asked = 0
  s.t.outbox.handle('commit_status', async () => ({
    isKept: false,
    plan: () => ({ most: 1 }),
    async send() {
      asked++
      await hung.promise
      return { answer: 'ok' }
    },
  }))
  for (const lane of ['a', 'b', 'c', 'd', 'e'])
    insertStatus(s.db, { ownerId: s.ada.user.id, lane, subjectId: lane })
  const { received, url } = receiver()
  s.channel(url)
  s.start()
  s.emit()
  await s.comes(() => received.length === 1)
  expect(asked).toBe(2)
  hung.resolve()
  await s.comes(() => asked === 5)
})

test('what only some recipients still lack is sent by itself, before a summary for all', async () => {
  const s = scene()
  const { received, url } = receiver(ok)
  s.channel(url, { kind: 'gotify', token: null })
  for (const title of ['of some', 'a', 'b', 'c', 'd', 'e']) s.emit({ title })
  const [first] = s.rows()
  s.db
    .update(outbox)
    .set({ left: ['bob@example.com'] })
    .where(eq(outbox.id, first!.id))
    .run()
  await s.comes(() => s.rows()[0]!.status === 'sent') // with the pause after it
  await s.clock.pass(minute)
  await s.settled('sent')
  const titles = received.map(({ body }) => body.title)
  expect(titles).toHaveLength(2)
  expect(titles[0]).toContain('of some')
  expect(titles[1]).toContain('5 events')
})

describe('a summary that is tried again', () => {
  test('has nothing that was given up', async () => {
    const s = scene()
    const { received, url, at } = receiver(() => new Response('no', { status: 500 }))
    s.channel(url, { kind: 'gotify', token: null })
    for (const title of ['old 1', 'old 2', 'old 3', 'newest']) s.emit({ title })
    await s.comes(() => s.rows()[0]!.tries === 1)
    const createdAt = new Date(s.clock.now() - 23 * 60 * minute)
    s.db.update(outbox).set({ createdAt }).where(ne(outbox.id, s.rows()[3]!.id)).run()
    await s.ends('failed')
    at.answer = ok
    await s.clock.pass(6 * 60 * minute)
    await s.settled('failed', 'sent')
    expect(s.rows().map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'sent'])
    expect(received.at(-1)!.body.title).toContain('newest')
  })

  test('has nothing that its reader may no longer see', async () => {
    const s = scene()
    const root = s.t.logInAsAdmin()
    const { received, url, at } = receiver(() => new Response('no', { status: 500 }))
    const ownerId = root.user.id
    s.channel(url, { kind: 'gotify', token: null, ownerId })
    s.emit({ ownerId: null, kind: 'disk_low', title: 'of the server' })
    for (const title of ['own 1', 'own 2', 'own 3']) s.emit({ ownerId, title })
    await s.comes(() => s.rows()[0]!.tries === 1)
    updateUser(s.db, ownerId, { role: 'member' })
    at.answer = ok
    await s.clock.pass(5000)
    await s.settled('dropped', 'sent')
    expect(received.at(-1)!.body.title).toContain('3 events: 3 failed')
    expect(received.at(-1)!.body.message).not.toContain('of the server')
  })
})

describe('Davit is killed', () => {
  test('before it sends: the next process does', async () => {
    const s = scene({ starts: false })
    const { received, url } = receiver()
    s.channel(url)
    s.emit()
    s.start()
    await s.settled('sent')
    expect(received).toHaveLength(1)
  })

  test('between sending and noting it: it is sent again with its id, which is told', async () => {
    const s = scene()
    const hung = Promise.withResolvers<void>()
    const { received, url, at } = receiver(() => hung.promise.then(ok))
    s.channel(url)
    s.emit()
    await s.comes(() => received.length === 1)
    at.answer = ok
    s.startAnother()
    await s.settled('sent')
    expect(received).toHaveLength(2)
    expect(received[0]!.id).toBe(received[1]!.id)
    expect(s.rows()).toMatchObject([{ uncertain: true, status: 'sent' }])
    hung.resolve()
  })
})

test('after a restart, what failed comes before what is newer', async () => {
  const s = scene()
  const { received, url, at } = receiver(() => new Response('no', { status: 503 }))
  s.channel(url)
  s.emit({ title: 'bad' })
  await s.comes(() => s.rows()[0]!.tries === 1)
  await s.clock.pass(5000)
  await s.comes(() => s.rows()[0]!.tries === 2)
  s.emit({ title: 'well again' })
  await s.stop()
  at.answer = ok
  received.length = 0
  s.startAnother()
  await s.comes(() => s.rows()[0]!.status === 'sent') // with the pause after it
  await s.clock.pass(1000)
  await s.settled('sent')
  expect(received.map(({ body }) => body.data.title)).toEqual(['bad', 'well again'])
})

describe('the clock is set', () => {
  test('forward by a year: nothing is given up, and all is sent', async () => {
    const s = scene()
    const { received, url, at } = receiver(() => new Response('no', { status: 500 }))
    s.channel(url)
    s.emit()
    await s.comes(() => s.rows()[0]!.tries === 1)
    s.clock.set(new Date(s.clock.now() + 365 * 24 * 60 * minute).toISOString())
    await s.clock.pass(minute)
    await s.comes(() => received.length >= 2)
    at.answer = ok
    await s.ends('sent')
  })

  test('back by a year: what waits for a retry does not wait a year', async () => {
    const s = scene()
    const { url, at } = receiver(() => new Response('no', { status: 500 }))
    s.channel(url)
    s.emit()
    await s.comes(() => s.rows()[0]!.tries === 1)
    at.answer = ok
    s.clock.set(new Date(s.clock.now() - 365 * 24 * 60 * minute).toISOString())
    expect(await s.ends('sent')).toBeLessThan(10 * minute)
  })
})
