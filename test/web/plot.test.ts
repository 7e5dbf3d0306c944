import { expect, test } from 'bun:test'
import { plot, decimalTop, memoryTop } from '../../src/web/plot.ts'

const bounds = { range: 'hour' as const, span: 10, from: 0, until: 3600 }

/** A value for each span of ten seconds; null where there is none. */
const pointsOf = (values: (number | null)[]) =>
  values.flatMap((value, index) => (value === null ? [] : [{ time: (index + 1) * 10, value }]))

const drawn = (values: (number | null)[], top = 100) => plot(bounds, pointsOf(values), { top })

test('a line goes from sample to sample, and its area to the ground', () => {
  expect(drawn([0, 40, 40, 40, 30])).toEqual({
    line: 'M1 100l1-40h2l1 10',
    area: 'M1 100V100l1-40h2l1 10V100Z',
  })
})

test('one missing sample is bridged, more break the line', () => {
  expect(drawn([50, null, 50]).line).toBe('M1 50h2')
  expect(drawn([50, 50, null, null, 50, 50]).line).toBe('M1 50h1M5 50h1')
})

test('a sample alone is a dot', () => {
  expect(drawn([null, null, 50]).line).toBe('M3 50h0')
})

test('nothing is drawn where nothing was measured', () => {
  expect(drawn([])).toEqual({ line: '', area: '' })
})

test('what is beyond the top stays inside', () => {
  expect(drawn([500]).line).toBe('M1 0h0')
})

test('a scale ends at a round number that the peak reaches', () => {
  expect([0, 1, 1.2, 20, 20.1, 99, 380].map((peak) => decimalTop(peak, 1))).toEqual([
    1, 1, 2, 20, 50, 100, 500,
  ])
  expect(decimalTop(0, 1000)).toBe(1000)
})

test('memory is shown against its limit when that is not far', () => {
  const mebibyte = 2 ** 20
  expect(memoryTop(5 * mebibyte, 512 * mebibyte)).toBe(8 * mebibyte)
  expect(memoryTop(300 * mebibyte, 500 * mebibyte)).toBe(500 * mebibyte)
  expect(memoryTop(501 * mebibyte, 500 * mebibyte)).toBe(501 * mebibyte) // it was lowered since
  expect(memoryTop(0, null)).toBe(mebibyte)
})
