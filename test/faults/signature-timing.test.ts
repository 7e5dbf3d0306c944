import { expect, test } from 'bun:test'
import { signatureTiming } from './signature-timing.ts'

test('how long a wrong signature takes tells nothing of the right one', () => {
  const report = signatureTiming({ rounds: 7 })
  expect(report.bad, report.figures).toBe(0)
})
