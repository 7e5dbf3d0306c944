import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { bytes, percent, rate, units } from '../../src/web/units.ts'

test('memory is in powers of 1024, transfers in powers of 1000', () => {
  expect([0, 1023, 1024, 1536, 102_350, 104_857_600, 2 ** 30].map(bytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KiB',
    '1.5 KiB',
    '100 KiB',
    '100 MiB',
    '1.0 GiB',
  ])
  expect([0, 999.4, 999.6, 1500, 123_456, 2e9].map(rate)).toEqual([
    '0 B/s',
    '999 B/s',
    '1.0 kB/s',
    '1.5 kB/s',
    '123 kB/s',
    '2.0 GB/s',
  ])
})

test('no unit is left for what is less than a thousand of the next', () => {
  expect(bytes(1023.7 * 2 ** 20)).toBe('1.0 GiB')
  expect(bytes(2 ** 60)).toBe('1048576 TiB')
})

test('small shares keep a digit, large ones are whole', () => {
  expect([0, 0.04, 3.21, 9.96, 123.4].map(percent)).toEqual([
    '0 %',
    '0.0 %',
    '3.2 %',
    '10 %',
    '123 %',
  ])
})

test('charts in the browser read values as the server does', async () => {
  const { text } = await import(join(import.meta.dir, '../../assets/chart-units.js'))
  for (const [unit, read] of Object.entries(units))
    for (const value of [0, 0.004, 0.5, 9.96, 99.96, 1023.9, 4180, 123_456, 2 ** 31])
      expect(text(value, unit)).toBe(read(value))
})
