import { expect, test } from 'bun:test'
import { decimalTop, memoryTop } from '../../src/web/plot.ts'

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
