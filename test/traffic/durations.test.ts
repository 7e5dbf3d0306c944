import { expect, test } from 'bun:test'
import { Durations } from '../../src/traffic/durations.ts'

/** Numbers that are the same in each run. */
function* numbers(seed: number) {
  for (let state = seed; ;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    yield state / 2 ** 31
  }
}

const exact = (values: number[], share: number) =>
  values.toSorted((a, b) => a - b)[Math.max(0, Math.ceil(values.length * share) - 1)]!

const shares = [0.5, 0.95, 0.99, 0, 1]

const distributions: Record<string, (random: number) => number> = {
  'from 1 ms to 1 s': (random) => 0.001 + random,
  'mostly short, some long': (random) => 0.0001 / (1.0001 - random),
  'all alike': () => 0.0423,
}

test.each(Object.entries(distributions))('percentiles are 4.5 %% off at most: %s', (_, of) => {
  const random = numbers(7)
  const values = Array.from({ length: 20_000 }, () => of(random.next().value!))
  const durations = new Durations()
  for (const value of values) durations.add(value)
  for (const share of shares) {
    const off = durations.percentile(share)! / exact(values, share)
    expect([share, off > 0.955 && off < 1.045]).toEqual([share, true])
  }
})

test('those of many minutes, packed and added up, are those of all together', () => {
  const random = numbers(3)
  const all = new Durations()
  const hour = new Durations()
  for (let minute = 0; minute < 60; minute++) {
    const one = new Durations()
    for (let count = 0; count < 100; count++) {
      const seconds = 0.001 * 10 ** (3 * random.next().value!)
      all.add(seconds)
      one.add(seconds)
    }
    hour.addPacked(one.pack())
  }
  expect(hour.pack()).toEqual(all.pack())
  for (const share of shares) expect(hour.percentile(share)).toBe(all.percentile(share))
  expect(all.pack().length).toBeLessThan(250)
})

test('nothing has no percentile, and what can’t be a duration breaks nothing', () => {
  const durations = new Durations()
  expect(durations.percentile(0.5)).toBe(null)
  for (const seconds of [-1, 0, 1e-9, 1e12, Infinity]) durations.add(seconds)
  durations.add(2, 1e12)
  expect(durations.percentile(0.5)).toBeCloseTo(2, 0)
  const other = new Durations()
  other.addPacked(durations.pack())
  expect(other.pack()).toEqual(durations.pack())
  other.addPacked(Buffer.from([0xff, 0xff])) // cut off
})
