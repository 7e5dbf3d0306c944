import { expect, test } from 'bun:test'
import { stalledReaders } from './log-stalled.ts'

test('readers who read nothing cost next to nothing, and get every line when they read on', async () => {
  expect(await stalledReaders({ readers: 40, lines: 40_000, seconds: 0 })).toMatchObject({ bad: 0 })
})
