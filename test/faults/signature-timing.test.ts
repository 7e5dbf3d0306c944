import { expect, test } from 'bun:test'
import { signatureTiming } from './signature-timing.ts'

test('how long a wrong signature takes reveals nothing about the right one', async () => {
  const report = await signatureTiming({ rounds: 7 })
  expect(report.bad, report.figures).toBe(0)
})
