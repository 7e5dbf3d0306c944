import { onTestFinished } from 'bun:test'
import { eq } from 'drizzle-orm'
import { channels, eventKinds, events, outbox } from '../../src/db/schema.ts'
import { newId } from '../../src/db/new-id.ts'
import { emit } from '../../src/notifications/emit.ts'
import type { NewEvent } from '../../src/notifications/emit.ts'
import { noticeHandler } from '../../src/notifications/deliver.ts'
import { Outbox } from '../../src/notifications/outbox.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { sealedAs } from '../../src/resources/store.ts'
import { simulatedApp } from '../support/app.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'

export type Received = { id: string; body: any; headers: Headers }

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** Answers as the test says, and remembers what it accepted. */
export function receiver(answer: (received: Received) => Response | Promise<Response> = ok) {
  const received: Received[] = []
  const at = { answer }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { headers } = request
      const one = { id: headers.get('webhook-id') ?? '', body: await request.json(), headers }
      received.push(one)
      return at.answer(one)
    },
  })
  onTestFinished(() => server.stop(true))
  return { received, at, url: `http://127.0.0.1:${server.port}/`, server }
}

export const ok = () => new Response('ok')

/** Ada with the outbox of her Davit, whose clock a test moves. */
export function scene({
  starts = true,
  env = {},
}: { starts?: boolean; env?: Record<string, string> } = {}) {
  const clock = new TestClock(new Date().toISOString())
  const t = simulatedApp(env, { clock })
  const ada = t.logIn('ada@example.com')
  const { db, secrets } = t
  let stop = new AbortController()
  let ended = Promise.resolve()
  const start = () => {
    stop = new AbortController()
    ended = t.outbox.run({ signal: stop.signal })
  }
  if (starts) start()
  onTestFinished(async () => {
    stop.abort()
    await ended
  })
  /** Without a change of the time. */
  const comes = (holds: () => boolean) =>
    until(async () => {
      await clock.pass(0)
      return holds()
    })
  return {
    ...{ t, db, ada, clock, start },
    /** A webhook, unless it says another kind. */
    channel(url: string, more: Partial<typeof channels.$inferInsert> = {}) {
      const id = newId()
      const ownerId = more.ownerId ?? ada.user.id
      const sealed = secrets.seal(secret, sealedAs('channel', id))
      const row = {
        name: id,
        url,
        secret: sealed,
        events: [...eventKinds],
      }
      db.insert(channels)
        .values({ id, kind: 'webhook', ...row, ...more, ownerId })
        .run()
      return id
    },
    emit: (event: Partial<NewEvent> = {}) =>
      db.transaction(() => emit(db, { ...failed, ownerId: ada.user.id, ...event })),
    rows: (channelId?: string) =>
      db
        .select()
        .from(outbox)
        .where(channelId ? eq(outbox.channelId, channelId) : undefined)
        .orderBy(outbox.id)
        .all(),
    events: () => db.select().from(events).orderBy(events.id).all(),
    comes,
    /** Lets time pass until the first message has ended, with all of its attempts; returns how much passed. */
    async ends(status: string) {
      const began = clock.now()
      const first = () => db.select().from(outbox).orderBy(outbox.id).get()!.status
      while (first() !== status) {
        await clock.pass(60_000)
        await comes(() => first() !== 'sending')
      }
      return clock.now() - began
    },
    settled: (...statuses: string[]) =>
      comes(() =>
        db
          .select()
          .from(outbox)
          .all()
          .every(({ status }) => statuses.includes(status)),
      ),
    /** What a process leaves that was killed, or stopped: another goes on with the same database. */
    startAnother() {
      if (stop.signal.aborted) stop = new AbortController()
      const next = new Outbox({ db, scheduler: new Scheduler(clock) })
      next.handle('notice', async () => noticeHandler(t.deps))
      const { signal } = stop
      void next.run({ signal })
    },
    async stop() {
      stop.abort()
      await ended
    },
  }
}

export const failed: NewEvent = {
  kind: 'deployment_failed',
  level: 'failure',
  subject: 'shop',
  title: 'Deployment #7 of shop failed',
  text: 'Build failed: the base image node:99 doesn’t exist.',
  todo: 'Check the FROM line of your Dockerfile.',
  href: '/projects',
}
