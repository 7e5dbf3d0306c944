import { expect, test } from 'bun:test'
import { expired } from '../../../src/backups/restic/retention.ts'

/** A backup of two files a day, at this hour of UTC, the newest on 30 November. */
const daily = (days: number, hour = '03:00') =>
  Array.from({ length: days }, (_, before) => {
    const at = new Date(Date.parse(`2026-11-30T${hour}Z`) - before * 86_400_000)
    const day = at.toISOString().slice(0, 10)
    return ['a', 'b'].map((file) => ({
      id: `${day}${file}`,
      at,
      tags: ['davit', `backup=${day}`],
      paths: [`/${file}`],
    }))
  }).flat()

const none = { last: 0, daily: 0, weekly: 0, monthly: 0 }

function kept(keep: Partial<typeof none>, options: { zone?: string; proven?: string } = {}) {
  const snapshots = daily(70).map((one) => ({
    ...one,
    tags: one.id === options.proven ? [...one.tags, 'proven'] : one.tags,
  }))
  const gone = expired(snapshots, { keep: { ...none, ...keep }, keepTags: ['proven'], ...options })
  return snapshots.filter(({ id }) => !gone.includes(id)).map(({ id }) => id)
}

test('the last backups are kept whole, with all of their files', () => {
  expect(kept({ last: 2 })).toEqual(['2026-11-30a', '2026-11-30b', '2026-11-29a', '2026-11-29b'])
})

test('of each day, week and month the last one is kept', () => {
  const days = (ids: string[]) => [...new Set(ids.map((id) => id.slice(0, 10)))]
  expect(days(kept({ weekly: 3 }))).toEqual(['2026-11-30', '2026-11-29', '2026-11-22'])
  expect(days(kept({ monthly: 3 }))).toEqual(['2026-11-30', '2026-10-31', '2026-09-30'])
  expect(days(kept({ daily: 2, monthly: 2 }))).toEqual(['2026-11-30', '2026-11-29', '2026-10-31'])
  expect(days(kept({ last: 500 }))).toHaveLength(70)
})

test('a day is one of the plan’s zone', () => {
  const snapshots = [
    ...daily(1, '00:30'),
    ...daily(1, '23:30').map((one) => ({ ...one, id: `${one.id}late`, tags: ['backup=late'] })),
  ]
  const keep = { ...none, daily: 2 }
  expect(expired(snapshots, { keep, keepTags: ['proven'] })).toHaveLength(2)
  expect(expired(snapshots, { keep, keepTags: ['proven'], zone: 'America/New_York' })).toEqual([])
})

test('a plan that keeps nothing keeps the newest backup and the proven one', () => {
  const ids = ['2026-11-30a', '2026-11-30b', '2026-10-01a', '2026-10-01b']
  expect(kept({}, { proven: '2026-10-01b' })).toEqual(ids)
})
