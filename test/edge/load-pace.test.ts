import { expect, test } from 'bun:test'
import { LoadPace } from '../../src/edge/load-pace.ts'

const second = 1000

/** After that many loads, `apart` milliseconds from each other; the last one at the returned time. */
function after(loads: number, { apart }: { apart: number }) {
  const pace = new LoadPace()
  let now = 0
  for (let load = 0; load < loads; load++) pace.count(new Date(load), (now += apart))
  return { pace, now }
}

test('twenty configurations may follow one another', () => {
  expect(new LoadPace().wait(0)).toBe(0)
  const { pace, now } = after(19, { apart: 0 })
  expect(pace.wait(now)).toBe(0)
})

test('the next ones are ten seconds apart', () => {
  const { pace, now } = after(20, { apart: 0 })
  expect(pace.wait(now)).toBeCloseTo(10 * second)
  expect(pace.wait(now + second)).toBeCloseTo(9 * second)
  expect(pace.wait(now + 10 * second)).toBe(0)
  pace.count(new Date(), now + 10 * second)
  expect(pace.wait(now + 10 * second)).toBeCloseTo(10 * second)
})

test('after enough quiet it is as if none had been loaded', () => {
  const { pace, now } = after(25, { apart: 0 })
  for (let load = 0; load < 19; load++) pace.count(new Date(load), now + 300 * second)
  expect(pace.wait(now + 300 * second)).toBe(0)
})

test('who changes something every ten seconds never waits', () => {
  const { pace, now } = after(100, { apart: 10 * second })
  expect(pace.wait(now)).toBe(0)
})

test('a look that loads nothing doesn’t count', () => {
  const pace = new LoadPace()
  const loadedAt = new Date()
  for (let look = 0; look < 100; look++) pace.count(loadedAt, 0)
  pace.count(null, 0)
  expect(pace.wait(0)).toBe(0)
})
