import { expect, test } from 'bun:test'
import { oddLines } from './log-odd-lines.ts'

test('endless lines, empty ones, broken text and progress bars are kept in bounded memory', async () => {
  expect(await oddLines({ megabytes: 5, emptyLines: 100_000 })).toMatchObject({ bad: 0 })
})
