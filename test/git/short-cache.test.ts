import { expect, jest, test } from 'bun:test'
import { ShortCache } from '../../src/git/short-cache.ts'

const answers = () => {
  let count = 0
  return async () => ++count
}

test('an answer is kept for its time', async () => {
  jest.useFakeTimers()
  const cache = new ShortCache({ milliseconds: 1_000, most: 10 })
  const find = answers()
  expect(await cache.remember('a', find)).toBe(1)
  jest.advanceTimersByTime(999)
  expect(await cache.remember('a', find)).toBe(1)
  jest.advanceTimersByTime(1)
  expect(await cache.remember('a', find)).toBe(2)
  jest.useRealTimers()
})

test('the oldest answer goes when there are too many', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, most: 2 })
  const find = answers()
  for (const key of ['a', 'b', 'c']) await cache.remember(key, find)
  expect(await cache.remember('c', find)).toBe(3)
  expect(await cache.remember('a', find)).toBe(4)
})

test('a fault is not kept', async () => {
  const cache = new ShortCache({ milliseconds: 60_000, most: 2 })
  const fails = cache.remember('a', () => Promise.reject(new Error('Down.')))
  expect(await fails.catch((error) => error.message)).toBe('Down.')
  expect(await cache.remember('a', answers())).toBe(1)
})
