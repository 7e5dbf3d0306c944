import { expect, test } from 'bun:test'
import { Life } from '../../src/logs/life.ts'
import type { Container } from '../../src/docker/index.ts'

const cursor = {
  containerId: 'c',
  sourceId: 's',
  deploymentId: '',
  name: 'app',
  ...{ timestamp: null, ordinal: 0, stream: null, endedAt: null },
}

const at = (second: number) => new Date(second * 1000)

test('a run that used up its memory is marked so though the next one has begun', () => {
  const life = new Life(cursor, { isKnown: false })
  const found = { state: 'running', exitCode: 0, oomKilled: false } as Container
  const ended = { kind: 'ended', exitCode: 137, isAsked: false } as const
  const marks = life.hear(
    [
      { kind: 'started', at: at(1) },
      { kind: 'oom' },
      { ...ended, at: at(2) },
      { kind: 'started', at: at(3) },
      { ...ended, at: at(4) },
    ],
    found,
  )
  expect(marks.map(({ text }) => text)).toEqual([
    'Container app started.',
    'Container app ended: exit code 137, out of memory.',
    'Container app started again.',
    'Container app ended: exit code 137.',
  ])
})
