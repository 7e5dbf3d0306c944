import { expect, test } from 'bun:test'
import { initialsOf, Monogram } from '../../src/web/logo.tsx'
import { Sparkline } from '../../src/web/chart.tsx'

test('a monogram has the first letters of a name, or its emoji', () => {
  expect(initialsOf('hello')).toBe('H')
  expect(initialsOf('my-shop')).toBe('MS')
  expect(initialsOf('  Ünder world ')).toBe('ÜW')
  expect(initialsOf('👩‍🚀 mission')).toBe('👩‍🚀')
  expect(initialsOf('site 🚢')).toBe('S')
  expect(initialsOf('متجر الكتب')).toBe('م')
  expect(initialsOf('--')).toBe('?')
})

test('its colour follows what it is seeded with, not the name', () => {
  const colour = (name: string, seed: string) =>
    /monogram p(\d)/.exec(String(Monogram({ name, seed })))![1]
  expect(colour('a', 'one')).toBe(colour('b', 'one'))
  const seen = new Set(Array.from({ length: 100 }, (_, n) => colour('a', `project ${n}`)))
  expect(seen.size).toBe(8)
})

test('a sparkline has a name and a line, and is left out where nothing was measured', () => {
  const bounds = { from: 0, until: 60, span: 10 }
  const points = [10, 20, 30].map((time) => ({ time, value: time }))
  const drawn = String(Sparkline({ label: 'CPU', points, bounds, top: 100 }))
  expect(drawn).toContain('role="img" aria-label="CPU"')
  expect(drawn).toContain('d="M1 90l1-10l1-10"')
  expect(Sparkline({ label: 'CPU', points: [], bounds })).toBeNull()
})
