import { expect, test } from 'bun:test'
import { isZone, neverComes, nextTimes, whyNotCron } from '../../src/platform/cron.ts'

const timesOf = (schedule: string, zone: string, after: string, count: number) =>
  nextTimes({ schedule, zone }, { after: new Date(after), count }).map((at) =>
    at.toISOString().slice(5, 16),
  )

test.each([
  ['a fixed time that is skipped runs right after', '30 2 * * *', ['03-29T01:00', '03-30T00:30']],
  ['several fixed times too', '30 2,14 * * *', ['03-29T01:00', '03-29T12:30']],
  ['each half hour follows the time that passes', '*/30 * * * *', ['03-29T00:00', '03-29T00:30']],
])('when clocks go forward, %s', (_, schedule, expected) => {
  expect(timesOf(schedule, 'Europe/Berlin', '2026-03-28T23:59:00Z', 20)).toEqual(
    expect.arrayContaining(expected),
  )
  const all = timesOf(schedule, 'Europe/Berlin', '2026-03-28T23:59:00Z', 20)
  expect(new Set(all).size).toBe(20)
})

test.each([
  ['a fixed time that is there twice runs once', '30 2 * * *', ['10-25T00:30', '10-26T01:30']],
  [
    'each half hour runs in both hours',
    '*/30 * * * *',
    ['10-25T00:00', '10-25T00:30', '10-25T01:00', '10-25T01:30', '10-25T02:00'],
  ],
  ['several fixed times run once each', '30 2,14 * * *', ['10-25T00:30', '10-25T13:30']],
])('when clocks go back, %s', (_, schedule, expected) => {
  const after = '2026-10-24T23:59:00Z'
  expect(timesOf(schedule, 'Europe/Berlin', after, expected.length)).toEqual(expected)
})

test.each([
  '* * * * *',
  '*/5 8-18 * * mon-fri',
  '0 0 L * *',
  '0 0 29 2 *',
  '0 0 13 * +FRI',
  '@daily',
  '@HOURLY',
])('%j is a cron expression', (schedule) => {
  expect(whyNotCron(schedule)).toBeNull()
  expect(neverComes(schedule)).toBe(false)
})

test.each([
  '',
  '* * * *',
  '* * * * * *',
  '0 0 1 1 * 2030',
  '@reboot',
  '@every 5m',
  '60 * * * *',
  '* 24 * * *',
  '*/0 * * * *',
  '*/100 * * * *',
  '5-1 * * * *',
  'a b c d e',
  'H * * * *',
  '1e3 * * * *',
  '2026-12-01T00:00:00',
  '* * * * * ; rm -rf /',
  `${'0,'.repeat(40)}99 * * * *`,
])('%j is none', (schedule) => {
  expect(whyNotCron(schedule)).toMatch(/^(must have|isn’t a cron expression: ).*\.$/)
})

test.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 31W 2 *', '0 0 30 2 +MON'])(
  '%j never comes',
  (schedule) => {
    expect(whyNotCron(schedule)).toBeNull()
    expect(neverComes(schedule)).toBe(true)
  },
)

test('a zone is one of the time zone database', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'EST5EDT']
  for (const zone of zones) expect(isZone(zone)).toBe(true)
  for (const zone of ['', 'Mars/Olympus', '+02:00', 'Europe', 'Europe/Berlin; x', '../etc'])
    expect(isZone(zone)).toBe(false)
})

test('what no longer can be read has no next time', () => {
  expect(timesOf('x', 'UTC', '2026-01-01T00:00:00Z', 3)).toEqual([])
  expect(timesOf('@daily', 'Mars/Olympus', '2026-01-01T00:00:00Z', 3)).toEqual([])
})
