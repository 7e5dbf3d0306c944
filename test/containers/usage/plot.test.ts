import { expect, test } from 'bun:test'
import type { History } from '../../../src/containers/usage/sample-history.ts'
import { plot } from '../../../src/containers/usage/plot.ts'

/** A value for each sample of ten seconds; null where there is none. */
function historyOf(values: (number | null)[]): History {
  const samples = values.flatMap((cpu, index) =>
    cpu === null
      ? []
      : [
          {
            time: (index + 1) * 10,
            cpu,
            memory: 0,
            received: 0,
            sent: 0,
            read: 0,
            written: 0,
            pids: 0,
          },
        ],
  )
  return { range: 'hour', span: 10, from: 0, until: 3600, samples }
}

const drawn = (values: (number | null)[], top = 100) => plot(historyOf(values), { of: 'cpu', top })

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
