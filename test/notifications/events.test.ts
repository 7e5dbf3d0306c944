import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { updateUser } from '../../src/accounts/store.ts'
import { channels, events, projects, users } from '../../src/db/schema.ts'
import { newId } from '../../src/db/new-id.ts'
import { insertStatus } from '../../src/notifications/outbox-store.ts'
import { dropOldNotices } from '../../src/notifications/store.ts'
import { quietEnd } from '../../src/notifications/quiet.ts'
import { failed, ok, receiver, scene } from './scene.ts'

const minute = 60_000
const hour = 60 * minute

describe('who is told', () => {
  test('its owner, and of the server all admins', async () => {
    const s = scene()
    const [own, other, admin] = [receiver(), receiver(), receiver()]
    const eve = s.t.logIn('eve@example.com')
    const root = s.t.logInAsAdmin()
    s.channel(own.url)
    s.channel(other.url, { ownerId: eve.user.id })
    s.channel(admin.url, { ownerId: root.user.id })
    s.emit()
    s.emit({ ownerId: null, kind: 'disk_low', title: 'full' })
    await s.settled('sent')
    expect([own, other, admin].map(({ received }) => received.length)).toEqual([1, 0, 1])
    expect((await s.ada.get('/settings/events')).json.items).toHaveLength(1)
    expect((await eve.get('/settings/events')).json.items).toEqual([])
    const [shown] = (await root.get('/settings/events')).json.items
    expect(shown).toMatchObject({ title: 'full', deliveries: [{ status: 'sent', answer: '200' }] })
  })

  test('only channels that chose its kind and its project', async () => {
    const s = scene()
    const { json: project } = await s.ada.post('/projects', {
      ...{ name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' },
    })
    const one = receiver()
    s.channel(one.url, { projects: [project.id] })
    s.channel(one.url, { events: ['unhealthy'] })
    s.emit({ title: 'of another project' })
    s.emit({ projectId: project.id, title: 'of this' })
    await s.settled('sent')
    expect(one.received.map(({ body }) => body.data.title)).toEqual(['of this'])
  })

  test('no one whose account is disabled, or who is no admin any more', async () => {
    const s = scene({ starts: false })
    const { url, received } = receiver()
    const root = s.t.logInAsAdmin()
    s.channel(url)
    s.channel(url, { ownerId: root.user.id })
    s.emit()
    s.emit({ ownerId: null, kind: 'disk_low' })
    updateUser(s.db, s.ada.user.id, { disabledAt: new Date() })
    updateUser(s.db, root.user.id, { role: 'member' })
    s.start()
    await s.settled('dropped')
    expect(received).toEqual([])
    s.emit()
    expect(s.rows()).toHaveLength(2)
  })

  test('no one of what was deleted', async () => {
    const s = scene({ starts: false })
    const { url } = receiver()
    const { json: project } = await s.ada.post('/projects', {
      ...{ name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' },
    })
    const id = s.channel(url)
    s.emit({ projectId: project.id })
    s.emit()
    expect(s.rows()).toHaveLength(2)
    s.db.delete(projects).where(eq(projects.id, project.id)).run()
    expect(s.rows()).toHaveLength(1)
    s.db.delete(channels).where(eq(channels.id, id)).run()
    expect([s.rows(), s.events().length]).toEqual([[], 1])
    s.db.delete(users).where(eq(users.id, s.ada.user.id)).run()
    expect(s.events()).toEqual([])
  })
})

test('what a deleted user gives away is told to the heir, and nothing else of theirs', async () => {
  const s = scene({ starts: false })
  const [root, eve] = [s.t.logInAsAdmin(), s.t.logIn('eve@example.com')]
  const { json: project } = await s.ada.post('/projects', {
    ...{ name: 'site', repositoryUrl: 'https://git.example.com/team/site.git' },
  })
  s.channel('http://127.0.0.1:1')
  s.emit({ projectId: project.id, title: 'of the project' })
  s.emit({ kind: 'login_new', title: 'a login' })
  insertStatus(s.db, { ownerId: s.ada.user.id, lane: project.id, subjectId: newId() })
  const given = await root.delete(`/settings/users/${s.ada.user.id}`, { heirId: eve.user.id })
  expect(given.status).toBe(200)
  const shown = (await eve.get('/settings/events')).json.items
  expect(shown).toMatchObject([{ title: 'of the project', deliveries: [] }])
  expect(s.rows()).toMatchObject([{ kind: 'commit_status', ownerId: eve.user.id }])
  expect(s.events()).toHaveLength(1)
})

describe('quiet hours', () => {
  test('hold what happens, and end with a summary', async () => {
    const s = scene()
    const { url, received } = receiver()
    const now = new Date(s.clock.now())
    const at = (hours: number) => new Date(now.getTime() + hours * hour).toISOString().slice(11, 16)
    s.channel(url, { kind: 'gotify', token: null, quiet: `${at(-1)}-${at(1)}` })
    s.emit({ title: 'first' })
    s.emit({ title: 'second', level: 'resolved' })
    await s.clock.pass(50 * minute)
    expect(received).toEqual([])
    await s.clock.pass(11 * minute)
    await s.settled('sent')
    expect(received).toHaveLength(1)
    expect(received[0]!.body.title).toContain('2 events: 1 failed, 1 recovered')
    expect(received[0]!.body.message).toContain('- first\n- second')
    expect(new Set(s.rows().map(({ messageId }) => messageId)).size).toBe(1)
  })

  test.each([
    ['2026-03-28T21:30:00Z', '22:00-07:00', 'Europe/Berlin', '2026-03-29T05:00:00Z'],
    ['2026-10-24T21:30:00Z', '22:00-07:00', 'Europe/Berlin', '2026-10-25T06:00:00Z'],
    ['2026-05-04T12:00:00Z', '22:00-07:00', 'Europe/Berlin', null],
    ['2026-05-04T04:59:59Z', '22:00-07:00', 'Europe/Berlin', '2026-05-04T05:00:00Z'],
    ['2026-05-04T05:00:00Z', '22:00-07:00', 'Europe/Berlin', null],
    ['2026-05-04T12:30:00Z', '12:00-13:00', 'UTC', '2026-05-04T13:00:00Z'],
    // 02:30 doesn’t exist in this night
    ['2026-03-28T23:30:00Z', '23:00-02:30', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
    // 02:10 comes twice in this one
    ['2026-10-25T00:10:00Z', '22:00-02:30', 'Europe/Berlin', '2026-10-25T00:30:00Z'],
    ['2026-10-25T01:10:00Z', '22:00-02:30', 'Europe/Berlin', null],
  ])('at %s of %s in %s end at %s', (at, quiet, zone, end) => {
    expect(quietEnd({ quiet, zone }, Date.parse(at))).toBe(end === null ? null : Date.parse(end))
  })
})

test('many events at once come as few summaries, and none is lost', async () => {
  const s = scene()
  const { url, received } = receiver()
  const each = receiver()
  const chat = s.channel(url, { kind: 'gotify', token: null })
  s.channel(each.url)
  s.db.transaction(() => {
    for (let i = 0; i < 100; i++) s.emit({ title: `${i} failed` })
  })
  await s.comes(() => each.received.length === 100)
  await s.settled('sent')
  expect(received).toHaveLength(1)
  expect(received[0]!.body.message).toContain('and 80 more')
  expect(s.rows(chat).every(({ status }) => status === 'sent')).toBe(true)
  expect(new Set(each.received.map(({ body }) => body.data.title)).size).toBe(100)
})

test('a summary that was refused is sent again as it was', async () => {
  const s = scene()
  const { url, received, at } = receiver(() => new Response('no', { status: 500 }))
  s.channel(url, { kind: 'gotify', token: null })
  for (let i = 0; i < 5; i++) s.emit()
  await s.comes(() => s.rows()[0]!.tries === 1)
  s.emit({ title: 'later' })
  at.answer = ok
  await s.clock.pass(5000)
  await s.comes(() => s.rows()[0]!.status === 'sent') // with the pause after it
  expect(received[1]!.body.message).toBe(received[0]!.body.message)
  await s.clock.pass(minute)
  await s.settled('sent')
  expect(received[2]!.body.title).toContain('later')
})

test('what failed can be sent again', async () => {
  const s = scene()
  const { url, received, at } = receiver(() => new Response('gone', { status: 410 }))
  s.channel(url)
  s.emit()
  await s.settled('failed')
  const { id } = s.events()[0]!
  const page = await s.ada.page('/settings/events')
  expect(page.text).toContain(`/settings/events/${id}/send`)
  at.answer = ok
  await s.clock.pass(minute)
  const again = await s.ada.post(`/settings/events/${id}/send`)
  expect(again.json.deliveries).toMatchObject([{ status: 'waiting' }])
  await s.settled('sent')
  expect(received).toHaveLength(2)
  expect((await s.ada.post(`/settings/events/${id}/send`)).status).toBe(409)
})

test('events are listed in pages, and followed as a stream that continues where it ended', async () => {
  const s = scene({ starts: false })
  for (const title of ['one', 'two', 'three']) s.emit({ title })
  const first = (await s.ada.get('/settings/events?limit=2')).json
  expect(first.items.map(({ title }: any) => title)).toEqual(['three', 'two'])
  const next = (await s.ada.get(`/settings/events?cursor=${first.nextCursor}`)).json
  expect(next.items.map(({ title }: any) => title)).toEqual(['one'])
  const stop = new AbortController()
  const response = await s.ada.send('/settings/events?format=json', {
    headers: { Accept: 'text/event-stream', 'Last-Event-ID': next.items[0].id },
    signal: stop.signal,
  })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk)
    if (text.includes('three')) break
  }
  stop.abort()
  const told = Array.from(text.matchAll(/^data: (.*)$/gm), ([, data]) => JSON.parse(data!).title)
  expect(told).toEqual(['two', 'three'])
})

test('what happened to something that was just deleted stops no one, and a text of any length fits', () => {
  const s = scene({ starts: false })
  s.db.transaction(() => {
    s.emit({ projectId: crypto.randomUUID() })
    s.emit({ title: 'x'.repeat(10_000), text: 'y'.repeat(100_000) })
  })
  expect(s.events().map(({ title, text }) => [title.length, text.length])).toEqual([[300, 4000]])
})

test('old events go, but no more than a thousand at once', () => {
  const s = scene({ starts: false })
  const old = new Date(Date.now() - 91 * 24 * hour)
  s.db.transaction(() => {
    for (let i = 0; i < 1100; i++)
      s.db
        .insert(events)
        .values({ ...failed, ownerId: s.ada.user.id, lastAt: old, createdAt: old })
        .run()
    s.emit()
  })
  dropOldNotices(s.db)
  expect(s.events()).toHaveLength(101)
  dropOldNotices(s.db)
  expect(s.events()).toHaveLength(1)
})
