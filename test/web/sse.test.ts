import { afterEach, expect, jest, spyOn, test } from 'bun:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { journal } from '../../src/platform/journal.ts'
import { factory } from '../../src/web/factory.ts'
import { answerError } from '../../src/web/failures.tsx'
import { sse, sseEvent } from '../../src/web/sse.ts'
import { Streams } from '../../src/web/streams.ts'
import { listening } from '../support/listening.ts'

type Events = (signal: AbortSignal) => AsyncIterable<string | Uint8Array>

afterEach(() => void jest.useRealTimers())

/** One stream at `/`, for a user who is logged in until `session.revoked`. */
function streaming(events: Events, { limit = 1000 } = {}) {
  const streams = new Streams(limit)
  const session = { revoked: false }
  const app = factory.createApp()
  app.onError(answerError)
  app.use(async (c, next) => {
    c.set('isLoginAlive', () => !session.revoked)
    c.set('user', { id: 'ada', email: 'ada@example.com', name: null, role: 'member' })
    await next()
  })
  app.get('/', (c) => sse(c, { streams, events }))
  return { app, streams, session }
}

/** Nothing, until the stream ends. */
const silence: Events = async function* (signal) {
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

const forever: Events = async function* (signal) {
  for (let i = 0; !signal.aborted; i++) {
    yield sseEvent({ id: i, data: `${i}` })
    await sleep(1)
  }
}

const textOf = async (response: Response | Promise<Response>) => (await response).text()

test('an event with any text in it stays one event', () => {
  const nasty = 'x\ndata: y\n\nevent: close\r\rid: 999\r\n\u2028z'
  const frame = sseEvent({ id: 7, event: 'status', data: nasty })
  const fields = frame.split('\n')
  expect(fields.splice(-2)).toEqual(['', '']) // the empty line that ends the event, and only that
  expect(fields.slice(0, 2)).toEqual(['id: 7', 'event: status'])
  expect(fields.slice(2).every((line) => line.startsWith('data: '))).toBe(true)
  expect(frame).not.toContain('\r')
  const data = fields.slice(2).map((line) => line.slice('data: '.length))
  expect(data.join('\n')).toBe(nasty.replace(/\r\n|\r/g, '\n'))
})

test('events reach the client as they are, and the stream ends after the last', async () => {
  const { app, streams } = streaming(async function* () {
    yield sseEvent({ id: 1, data: 'a' })
    yield new TextEncoder().encode(sseEvent({ event: 'done', data: '' }))
  })
  const response = await app.request('/')
  expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('Cache-Control')).toBe('no-store')
  expect(response.headers.get('X-Accel-Buffering')).toBe('no')
  expect(streams.size).toBe(1)
  expect(await response.text()).toBe(': open\n\nid: 1\ndata: a\n\nevent: done\ndata: \n\n')
  expect(streams.size).toBe(0)
})

test('a stream of one user too many is refused until another ends', async () => {
  const { app, streams } = streaming(silence, { limit: 2 })
  const [first, second] = [await app.request('/'), await app.request('/')]
  const refused = await app.request('/', { headers: { Accept: 'application/json' } })
  expect(refused.status).toBe(429)
  expect(refused.headers.get('Retry-After')).toBe('5')
  await first.body!.cancel()
  expect(streams.size).toBe(1)
  expect((await app.request('/')).status).toBe(200)
  await second.body!.cancel()
})

test('the place of a stream is given back however it ends', async () => {
  const broken = streaming(async function* () {
    yield 'data: x\n\n'
    throw new Error('the source broke')
  })
  {
    using logged = spyOn(journal, 'error').mockImplementation(() => {})
    expect(await textOf(broken.app.request('/'))).toEndWith('data: x\n\n')
    expect(logged).toHaveBeenCalledTimes(1)
  }
  expect(broken.streams.size).toBe(0)

  const { app, streams } = streaming(forever)
  expect((await app.request('/', { method: 'HEAD' })).status).toBe(200)
  expect(streams.size).toBe(0)

  const leaving = new AbortController()
  const unread = await app.request('/', { signal: leaving.signal })
  expect(streams.size).toBe(1)
  leaving.abort()
  expect(streams.size).toBe(0)
  await unread.text()

  expect((await app.request('/', { signal: AbortSignal.abort() })).status).toBe(200)
  expect(streams.size).toBe(0)
})

test('a client that goes away ends the source', async () => {
  const ended = Promise.withResolvers<void>()
  const { app, streams } = streaming(async function* (signal) {
    signal.addEventListener('abort', () => ended.resolve())
    yield* forever(signal)
  })
  const server = listening({ app })
  const leaving = new AbortController()
  const response = await fetch(server.url, { signal: leaving.signal })
  await response.body!.getReader().read()
  expect(streams.size).toBe(1)
  leaving.abort()
  await ended.promise
  expect(streams.size).toBe(0)
})

test('a quiet stream says every 15 s that it lives', async () => {
  jest.useFakeTimers()
  const { app } = streaming(silence)
  const reader = (await app.request('/')).body!.getReader()
  const next = async () => new TextDecoder().decode((await reader.read()).value)
  expect(await next()).toBe(': open\n\n')
  for (let i = 0; i < 3; i++) {
    const beat = next()
    jest.advanceTimersByTime(15_000)
    expect(await beat).toBe(': keep-alive\n\n')
  }
  await reader.cancel()
})

test('the stream of a session that ended ends within 5 s, read or not', async () => {
  jest.useFakeTimers()
  for (const events of [silence, forever]) {
    const { app, streams, session } = streaming(events)
    const unread = await app.request('/')
    session.revoked = true
    jest.advanceTimersByTime(5000)
    expect(streams.size).toBe(0)
    expect(await unread.text()).not.toContain('data: 1\n')
  }
})

test('no event follows the end of the session', async () => {
  const { app, session, streams } = streaming(async function* () {
    yield 'data: before\n\n'
    yield 'data: after\n\n'
  })
  const reader = (await app.request('/')).body!.getReader()
  let text = ''
  while (!text.includes('before')) text += new TextDecoder().decode((await reader.read()).value)
  session.revoked = true
  streams.recheck()
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
    text += new TextDecoder().decode(chunk.value)
  expect(text).toBe(': open\n\ndata: before\n\n')
})

test('a stop of Davit ends every stream with the wish to be called again soon', async () => {
  const { app, streams } = streaming(silence)
  const open = await Promise.all([app.request('/'), app.request('/')])
  const read = open.map((response) => response.text())
  await sleep(5)
  streams.endAll()
  for (const text of await Promise.all(read)) expect(text).toBe(': open\n\nretry: 1000\n\n')
  expect(await textOf(app.request('/'))).toContain('retry: 1000')
  expect(streams.size).toBe(0)
})

test('a hundred readers that do not read cost little memory', async () => {
  const frame = sseEvent({ data: 'x'.repeat(100_000) })
  let produced = 0
  const { app, streams } = streaming(async function* (signal) {
    for (let i = 0; i < 200 && !signal.aborted; i++) {
      produced++
      yield new TextEncoder().encode(frame)
    }
  })
  const server = listening({ app })
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  const sockets = await Promise.all(
    Array.from({ length: 100 }, () =>
      Bun.connect({
        hostname: '127.0.0.1',
        port: server.port!,
        socket: {
          open(socket) {
            socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
            socket.pause()
          },
          data() {},
        },
      }),
    ),
  )
  while (streams.size < 100) await sleep(5)
  for (let last = -1; produced !== last; await sleep(100)) last = produced
  Bun.gc(true)
  const growth = process.memoryUsage.rss() - before
  expect(produced).toBeLessThan(100 * 100) // of 20 MB each, most stays with the source
  expect(growth / 1e6).toBeLessThan(300) // a MiB each, and what a heap adds that other tests have used
  for (const socket of sockets) socket.terminate()
})
