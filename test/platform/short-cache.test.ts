import { expect, jest, test } from 'bun:test'
import { ShortCache } from '../../src/platform/short-cache.ts'

const stays = new AbortController().signal

const answers = () => {
  let count = 0
  return { find: async () => ++count, signal: stays }
}

test('an answer is kept for its time', async () => {
  jest.useFakeTimers()
  const cache = new ShortCache({ milliseconds: 1_000, max: 10 })
  const question = answers()
  expect(await cache.remember('a', question)).toBe(1)
  jest.advanceTimersByTime(999)
  expect(await cache.remember('a', question)).toBe(1)
  jest.advanceTimersByTime(1)
  expect(await cache.remember('a', question)).toBe(2)
  jest.useRealTimers()
})

test('the oldest answer goes when there are too many', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, max: 2 })
  const question = answers()
  for (const key of ['a', 'b', 'c']) await cache.remember(key, question)
  expect(await cache.remember('c', question)).toBe(3)
  expect(await cache.remember('a', question)).toBe(4)
})

test('a fault is not kept', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, max: 2 })
  const find = () => Promise.reject(new Error('Down.'))
  const fails = cache.remember('a', { find, signal: stays })
  expect(await fails.catch((error) => error.message)).toBe('Down.')
  expect(await cache.remember('a', answers())).toBe(1)
})

test('two who ask at the same time wait for one answer, or for one fault', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, max: 2 })
  const question = answers()
  const both = [cache.remember('a', question), cache.remember('a', question)]
  expect(await Promise.all(both)).toEqual([1, 1])
  const down = { find: () => Promise.reject(new Error('Down.')), signal: stays }
  const faults = [cache.remember('b', down), cache.remember('b', question)]
  expect((await Promise.allSettled(faults)).map(({ status }) => status)).toEqual([
    'rejected',
    'rejected',
  ])
})

test('one who goes away takes the answer from no one else', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, max: 2 })
  const leaving = new AbortController()
  const { promise, reject } = Promise.withResolvers<number>()
  const first = cache.remember('a', { find: () => promise, signal: leaving.signal })
  const question = answers()
  const others = [cache.remember('a', question), cache.remember('a', question)]
  leaving.abort()
  reject(leaving.signal.reason)
  expect(await first.catch((error) => error.name)).toBe('AbortError')
  expect(await Promise.all(others)).toEqual([1, 1])
})
