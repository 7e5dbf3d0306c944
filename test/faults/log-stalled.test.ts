import { expect, test } from 'bun:test'
import { stalledReaders } from './log-stalled.ts'

test('readers who read nothing cost next to nothing, and get every line when they read on', async () => {
  expect(await stalledReaders({ readers: 30, lines: 20_000, seconds: 0 })).toMatchObject({ bad: 0 })
})
