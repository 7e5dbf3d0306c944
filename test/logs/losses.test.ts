import { expect, test } from 'bun:test'
import { LogBounds } from '../../src/logs/log-bounds.ts'
import { isLoss } from '../../src/logs/losses.ts'
import {
  endMark,
  gapMark,
  lateMark,
  memoryMark,
  removalMark,
  startMark,
} from '../../src/logs/marks.ts'
import type { LogEntry } from '../../src/docker/index.ts'
import { Progress } from '../../src/logs/progress.ts'

const container = { name: 'site-web-1', deploymentId: Bun.randomUUIDv7() }
const at = new Date()

test('each mark of missing output is known as one, and no other line', () => {
  const full = new LogBounds({ lines: 0, bytes: 0 }, { lines: 0, bytes: 0 })
  const lost = [
    removalMark(container),
    lateMark(container as never, 0),
    gapMark({ from: 0, to: 1000, perSecond: 1 }),
    gapMark({ from: 0, to: 1000, perSecond: 5000 }),
    full.admit({ time: 0, stream: 'stdout', text: 'one more' })!,
  ].map(({ text }) => text)
  const others = [
    startMark(container, { at, endedBefore: null }),
    endMark(container, { at, reportedAt: 0, exitCode: 137, oomKilled: true }),
    memoryMark(container, { at, memoryLimit: null }),
  ].map(({ text }) => text)
  expect(lost.filter((text) => !isLoss({ stream: 'system', text }))).toEqual([])
  expect(others.filter((text) => isLoss({ stream: 'system', text }))).toEqual([])
  expect(lost.filter((text) => isLoss({ stream: 'stdout', text }))).toEqual([]) // a command can write it
})

test('reading the same again after a failure is no progress, and reading on is', async () => {
  const progress = new Progress()
  const entry: LogEntry = { stream: 'stdout', timestamp: '', text: '', ended: true }
  async function read(count: number) {
    const before = progress.steps
    const snapshot = progress.counted(async function* () {
      for (let n = 0; n < count; n++) yield [entry]
    })
    for await (const _ of snapshot({}));
    return progress.steps - before
  }
  expect([await read(3), await read(3), await read(5)]).toEqual([3, 0, 2])
  progress.stored()
  expect(await read(3)).toBe(3)
})
