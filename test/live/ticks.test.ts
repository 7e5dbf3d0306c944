import { expect, test } from 'bun:test'
import { Hub } from '../../src/live/hub.ts'
import { ticks } from '../../src/live/ticks.ts'

function listen(options: { interval: number; longest: number }) {
  const hub = new Hub<void>()
  const abort = new AbortController()
  const { signal } = abort
  const listener = (wake: () => void) => hub.listen('a', signal, { push: wake })
  const looks = ticks(listener, { signal, ...options })
  return { tell: () => hub.publish('a'), abort, next: () => looks.next() }
}

test('many changes in a moment are one, and the last of them is not lost', async () => {
  const { tell, next, abort } = listen({ interval: 50, longest: 60_000 })
  await next()
  const from = performance.now()
  for (let count = 0; count < 1000; count++) tell()
  await next()
  expect(performance.now() - from).toBeGreaterThan(45)
  const later = next()
  tell()
  expect((await later).done).toBe(false)
  abort.abort()
  expect((await next()).done).toBe(true)
})

test('without changes a listener looks now and then all the same', async () => {
  const { next, abort } = listen({ interval: 10, longest: 50 })
  await next()
  const from = performance.now()
  await next()
  expect(performance.now() - from).toBeGreaterThan(40)
  abort.abort()
})

test('who stopped listening waits for nothing', async () => {
  const { next, abort } = listen({ interval: 60_000, longest: 60_000 })
  await next()
  const end = next()
  abort.abort()
  expect((await end).done).toBe(true)
})
