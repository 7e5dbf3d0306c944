import { afterEach, describe, expect, setSystemTime, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { events, outbox } from '../../src/db/schema.ts'
import { ok, receiver, scene } from './scene.ts'
import { mailSettings, refuse, smtpHost } from './smtp-host.ts'

const minute = 60_000
const hour = 60 * minute

afterEach(() => {
  setSystemTime()
})

describe('what flaps', () => {
  const bad = { kind: 'unhealthy', of: 'unhealthy shop' } as const
  const good = { ...bad, level: 'resolved', title: 'well again', text: 'It responds.' } as const

  test('is one message, and its end once it stays well', async () => {
    const s = scene()
    const { url, received } = receiver()
    s.channel(url)
    s.emit(bad)
    await s.settled('sent')
    for (let i = 0; i < 5; i++) {
      s.emit(good)
      await s.clock.pass(10_000)
      s.emit(bad)
    }
    expect(received).toHaveLength(1)
    s.emit(good)
    await s.clock.pass(5 * minute)
    expect(received).toHaveLength(1)
    await s.clock.pass(2 * minute)
    await s.settled('sent')
    expect(received.map(({ body }) => body.data.level)).toEqual(['failure', 'resolved'])
    expect(received[1]!.body.data.text).toContain('6 times')
    expect(s.events()).toMatchObject([{ count: 6, level: 'failure' }, { level: 'resolved' }])
    s.emit(bad)
    await s.settled('sent')
    expect(received).toHaveLength(3)
  })

  test('counts on when it is bad again soon after its end was told', async () => {
    const s = scene()
    const { url, received } = receiver()
    s.channel(url)
    const pass = async (milliseconds: number) => {
      await s.clock.pass(milliseconds)
      await s.comes(() => s.rows().every(({ status }) => status !== 'sending'))
      setSystemTime(s.clock.now())
    }
    const flap = async (times: number) => {
      for (let i = 0; i < times; i++) {
        s.emit(bad)
        await pass(1.5 * minute)
        s.emit(good)
        await pass(1.5 * minute)
      }
    }
    await flap(20)
    await pass(hour)
    expect(received.map(({ body }) => body.data.level)).toEqual([
      ...['failure', 'resolved', 'failure', 'resolved'],
    ])
    expect(s.events().map(({ count }) => count)).toEqual([1, 1, 19, 20])
    await flap(1)
    expect(s.events().at(-1)).toMatchObject({ level: 'resolved', count: 1 })
  })

  test('is told to a channel that was added since, once, if it chose that', async () => {
    const s = scene()
    s.emit(bad)
    const { url, received } = receiver()
    s.channel(url)
    s.channel(url, { events: ['crash_loop'] })
    s.emit(bad)
    await s.settled('sent')
    s.emit(bad)
    expect(s.rows()).toMatchObject([{ status: 'sent' }])
    expect(received.map(({ body }) => body.data.level)).toEqual(['failure'])
  })

  test('is told again, once, when it becomes a failure', async () => {
    const s = scene()
    const { url, received } = receiver()
    s.channel(url)
    const tell = async (level: 'warning' | 'failure') => {
      s.emit({ ...bad, level })
      await s.clock.pass(minute)
      await s.settled('sent')
    }
    for (const level of ['warning', 'failure', 'warning', 'failure'] as const) await tell(level)
    expect(received.map(({ body }) => body.data.level)).toEqual(['warning', 'failure'])
    expect(s.events()).toMatchObject([{ level: 'failure', count: 4 }])
  })

  test('is told once when it becomes a failure before it was sent', async () => {
    const s = scene({ starts: false })
    const { url, received } = receiver()
    s.channel(url)
    s.emit({ ...bad, level: 'warning' })
    s.emit(bad)
    s.start()
    await s.settled('sent')
    expect(received.map(({ body }) => body.data.level)).toEqual(['failure'])
  })

  test('is told once when it becomes a failure after its warning was given up', async () => {
    const s = scene()
    const { url, received, at } = receiver(() => new Response('gone', { status: 410 }))
    s.channel(url)
    s.emit({ ...bad, level: 'warning' })
    await s.settled('failed')
    at.answer = ok
    s.emit(bad)
    await s.clock.pass(minute)
    await s.settled('failed', 'sent')
    expect(received.map(({ body }) => body.data.level)).toEqual(['warning', 'failure'])
    expect(s.rows()).toMatchObject([{ status: 'sent' }])
  })

  test('is told all recipients of a mail when it becomes a failure while one lacks the warning', async () => {
    const s = scene({ env: { DAVIT_ALLOW_HOSTS: '127.0.0.1' } })
    const answers = [null, refuse(451, 'Greylisted')]
    const { port, mails } = await smtpHost({
      onRcptTo: (_, __, done) => done(answers.shift() ?? null),
    })
    await s.ada.post('/settings/channels', {
      ...{ name: 'mail', events: ['unhealthy'], ...mailSettings(port) },
      ...{ kind: 'email', trust: 'any' },
    })
    s.emit({ ...bad, level: 'warning' })
    await s.comes(() => s.rows()[0]!.tries === 1)
    s.emit(bad)
    await s.clock.pass(minute)
    await s.settled('sent')
    const [ada, bob] = ['ada@example.com', 'bob@example.com']
    expect(mails.map(({ to }) => to)).toEqual([[ada], [ada, bob]])
  })

  test('has another id when it becomes a failure while its warning may have arrived', async () => {
    const s = scene({ starts: false })
    const { url, received } = receiver()
    s.channel(url)
    s.emit({ ...bad, level: 'warning' })
    s.db.update(outbox).set({ messageId: 'of the warning', uncertain: true }).run()
    s.emit(bad)
    s.start()
    await s.settled('sent')
    expect(received.map(({ body }) => body.data.level)).toEqual(['failure'])
    expect(received[0]!.id).not.toBe('of the warning')
  })

  test('is sent again after an hour where it was given up', async () => {
    const s = scene()
    const { url, received, at } = receiver(() => new Response('gone', { status: 410 }))
    s.channel(url)
    s.emit(bad)
    await s.settled('failed')
    s.emit(bad)
    expect(s.rows()).toMatchObject([{ status: 'failed' }])
    const createdAt = new Date(Date.now() - hour - 1)
    s.db.update(outbox).set({ createdAt }).run()
    at.answer = ok
    s.emit(bad)
    await s.clock.pass(minute)
    await s.settled('sent')
    expect([s.rows().length, received.length]).toEqual([1, 2])
  })

  test('is told as new when its begin was too old to be kept', () => {
    const s = scene({ starts: false })
    s.emit(bad)
    s.emit(good)
    s.db.delete(events).where(eq(events.level, 'failure')).run()
    s.emit(bad)
    expect(s.events()).toMatchObject([{ level: 'failure', count: 1, endedAt: null }])
  })

  test('ends only what began', () => {
    const s = scene({ starts: false })
    s.emit(good)
    expect(s.events()).toEqual([])
  })
})
