import { expect, test } from 'bun:test'
import { Ago, ago } from '../../src/web/times.tsx'
import { duration } from '../../src/web/units.ts'

const minute = 60_000
const now = new Date('2026-03-10T12:00:00Z')
const before = (milliseconds: number) => ago(new Date(now.getTime() - milliseconds), now)

test('the past is reported in the largest unit that fits, and by its date after a month', () => {
  expect(before(59_000)).toBe('just now')
  expect(before(minute)).toBe('1 min ago')
  expect(before(59.9 * minute)).toBe('59 min ago')
  expect(before(25 * 60 * minute)).toBe('1 d ago')
  expect(before(31 * 24 * 60 * minute)).toBe('7 Feb 2026')
})

test('a clock that runs ahead is just now', () => {
  expect(before(-5 * minute)).toBe('just now')
})

test('a duration is as exact as a person needs it', () => {
  expect(duration(840)).toBe('0.8 s')
  expect(duration(9_949)).toBe('9.9 s')
  expect(duration(12_400)).toBe('12 s')
  expect(duration(3 * minute + 12_000)).toBe('3 min 12 s')
  expect(duration(62 * minute)).toBe('1 h 2 min')
  expect(duration(-3)).toBe('0.0 s')
})

test('without script a time names its zone', () => {
  const drawn = String(Ago({ at: new Date('2026-03-10T12:00:00Z') }))
  expect(drawn).toContain('datetime="2026-03-10T12:00:00.000Z" title="10 Mar 2026, 12:00:00 UTC"')
})
