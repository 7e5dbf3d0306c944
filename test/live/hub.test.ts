import { expect, test } from 'bun:test'
import { Hub, resync } from '../../src/live/hub.ts'

/** Everything until the end of the subscription. */
const collect = (messages: AsyncIterable<unknown>) => Array.fromAsync(messages)

test('each subscriber of a channel gets its messages in order, others none', async () => {
  const hub = new Hub<number>()
  const leaving = new AbortController()
  const readers = ['a', 'a', 'b'].map((channel) => collect(hub.subscribe(channel, leaving.signal)))
  for (const number of [1, 2, 3]) hub.publish('a', number)
  await Bun.sleep(0)
  leaving.abort()
  expect(await Promise.all(readers)).toEqual([[1, 2, 3], [1, 2, 3], []])
})

test('nothing is lost between subscribing and the first read', async () => {
  const hub = new Hub<number>()
  const leaving = new AbortController()
  const messages = hub.subscribe('a', leaving.signal)[Symbol.asyncIterator]()
  hub.publish('a', 1)
  await Bun.sleep(0)
  hub.publish('a', 2)
  expect((await messages.next()).value).toBe(1)
  expect((await messages.next()).value).toBe(2)
  const waiting = messages.next()
  hub.publish('a', 3)
  expect((await waiting).value).toBe(3)
  leaving.abort()
})

test('one that lags is told so once, and follows again from there', async () => {
  const hub = new Hub<number>()
  const leaving = new AbortController()
  const messages = hub.subscribe('a', leaving.signal)[Symbol.asyncIterator]()
  for (let i = 0; i < 1000; i++) hub.publish('a', i)
  expect((await messages.next()).value).toBe(resync)
  hub.publish('a', 1000)
  expect((await messages.next()).value).toBe(1000)
  leaving.abort()
  expect((await messages.next()).done).toBe(true)
})

test('one that never reads holds nothing but the note that it lags', async () => {
  const hub = new Hub<{ bytes: Uint8Array }>()
  const leaving = new AbortController()
  const readers = Array.from({ length: 100 }, () => hub.subscribe('a', leaving.signal))
  Bun.gc(true)
  const before = process.memoryUsage.rss()
  for (let i = 0; i < 2000; i++) hub.publish('a', { bytes: new Uint8Array(100_000).fill(1) })
  Bun.gc(true)
  expect(process.memoryUsage.rss() - before).toBeLessThan(60_000_000)
  for (const reader of readers)
    expect((await reader[Symbol.asyncIterator]().next()).value).toBe(resync)
  leaving.abort()
})

test('a subscription ends with its signal, also before it began or while it is not read', async () => {
  const hub = new Hub<number>()
  const unread = new AbortController()
  hub.subscribe('a', unread.signal)
  expect(hub.size).toBe(1)
  unread.abort()
  expect(hub.size).toBe(0)

  expect(await collect(hub.subscribe('a', AbortSignal.abort()))).toEqual([])
  hub.subscribe('a', AbortSignal.abort())
  expect(hub.size).toBe(0)

  const waiting = new AbortController()
  const reader = collect(hub.subscribe('a', waiting.signal))
  await Bun.sleep(0)
  waiting.abort()
  expect(await reader).toEqual([])
  expect(hub.size).toBe(0)
})

test('a reader that stops reading leaves', async () => {
  const hub = new Hub<number>()
  const messages = hub.subscribe('a', new AbortController().signal)
  hub.publish('a', 1)
  for await (const message of messages) {
    expect(message).toBe(1)
    break
  }
  expect(hub.size).toBe(0)
})

test('a reader of the newest gets the current value at once, and misses what was replaced', async () => {
  const hub = new Hub<number>()
  const leaving = new AbortController()
  const messages = hub.newest('a', leaving.signal, 1)
  expect((await messages.next()).value).toBe(1)
  const next = messages.next()
  hub.publish('a', 2)
  expect((await next).value).toBe(2)
  for (const number of [3, 4, 5]) hub.publish('a', number)
  expect((await messages.next()).value).toBe(5)
  const waiting = messages.next()
  leaving.abort()
  expect((await waiting).done).toBe(true)
  expect(hub.size).toBe(0)
})

test('a message that says to look again hides none of those behind it', async () => {
  const hub = new Hub<number | typeof resync>()
  const leaving = new AbortController()
  const messages = hub.subscribe('a', leaving.signal)
  hub.publish('a', resync)
  hub.publish('a', 1)
  expect((await messages.next()).value).toBe(resync)
  expect((await messages.next()).value).toBe(1)
  leaving.abort()
})
