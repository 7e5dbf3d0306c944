import { expect, test } from 'bun:test'
import { viewersComeBack } from './log-viewers.ts'

test('viewers who leave and come back see each line once and in order, through the death of Davit', async () => {
  const report = await viewersComeBack({ rounds: 1, lines: 10_000, viewers: 10, leaves: 10 })
  expect(report).toMatchObject({ bad: 0, figures: expect.stringContaining('1 kills') })
  expect(report.rounds).toBeGreaterThan(150_000)
})
