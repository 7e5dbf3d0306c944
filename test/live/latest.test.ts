import { expect, test } from 'bun:test'
import { Latest } from '../../src/live/latest.ts'

const follow = <Value>(latest: Latest<Value>, signal = new AbortController().signal) =>
  latest.follow(signal)

test('a follower gets what is there at once, and then what is new', async () => {
  const latest = new Latest<number>()
  latest.set(1)
  const follower = follow(latest)
  expect((await follower.next()).value).toBe(1)
  const next = follower.next()
  latest.set(2)
  expect((await next).value).toBe(2)
})

test('a slow follower misses what was replaced meanwhile', async () => {
  const latest = new Latest<number>()
  latest.set(1)
  const follower = follow(latest)
  await follower.next()
  latest.set(2)
  latest.set(3)
  expect((await follower.next()).value).toBe(3)
})

test('the end comes after the last value, for those who come later too', async () => {
  const latest = new Latest<number>()
  const early = follow(latest)
  const first = early.next()
  latest.set(1)
  latest.end()
  expect((await first).value).toBe(1)
  expect((await early.next()).done).toBe(true)
  const late = follow(latest)
  expect((await late.next()).value).toBe(1)
  expect((await late.next()).done).toBe(true)
})

test('who waits is let go by its signal', async () => {
  const abort = new AbortController()
  const next = follow(new Latest<number>(), abort.signal).next()
  abort.abort()
  expect((await next).done).toBe(true)
})
