import { expect, test } from 'bun:test'
import { ContainerLifecycle } from '../../src/logs/container-lifecycle.ts'
import type { LifecycleEvent } from '../../src/logs/container-lifecycle.ts'
import type { Container } from '../../src/docker/index.ts'
import { firstServer } from '../../src/platform/root.ts'

const cursor = {
  containerId: 'c',
  sourceId: 's',
  deploymentId: '',
  name: 'app',
  serverId: firstServer,
  ...{ timestamp: null, ordinal: 0, stream: null, endedAt: null },
}

const at = (second: number) => new Date(second * 1000)

test('a run that used up its memory is marked so though the next one has begun', () => {
  const life = new ContainerLifecycle(cursor, { isKnown: false })
  const found = { state: 'running', exitCode: 0, oomKilled: false } as Container
  const ended = { kind: 'ended', exitCode: 137, isAsked: false } as const
  const marks = life.hear(
    [
      { kind: 'started', at: at(1) },
      { kind: 'oom', at: at(2) },
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

test('a process that was killed for memory is marked where its container lives on, once a minute, and is no reason for its end', () => {
  const life = new ContainerLifecycle(cursor, { isKnown: true })
  const found = { state: 'running', exitCode: 0, oomKilled: false } as Container
  const oom = (second: number) => ({ kind: 'oom', at: at(second) }) as const
  const marked = (...news: LifecycleEvent[]) => life.hear(news, found).map(({ text }) => text)
  const killed = 'Container app reached its memory limit: a process in it was killed.'
  expect(marked(oom(5), oom(5))).toEqual([killed])
  expect(marked(oom(60))).toEqual([])
  expect(marked(oom(66))).toEqual([killed])
  expect(marked({ kind: 'ended', at: at(90), exitCode: 137, isAsked: true })).toEqual([
    'Container app ended: exit code 137.',
  ])
})

test('an engine may tell of memory that ran out after the end of that run, and before the next', () => {
  const found = { state: 'exited', exitCode: 137, oomKilled: false } as Container
  const ended = { kind: 'ended', exitCode: 137, isAsked: false } as const
  const oom = { kind: 'oom', at: at(2) } as const
  const textsOf = (...news: LifecycleEvent[]) =>
    new ContainerLifecycle(cursor, { isKnown: true }).hear(news, found).map(({ text }) => text)
  const killed = 'Container app ended: exit code 137.'
  const ranOut = 'Container app ended: exit code 137, out of memory.'
  const again = 'Container app started again.'
  const started = { kind: 'started', at: at(3) } as const
  expect(textsOf({ ...ended, at: at(2) }, oom)).toEqual([ranOut])
  expect(textsOf({ ...ended, at: at(2) }, started, oom, { ...ended, at: at(4) })).toEqual([
    killed,
    again,
    ranOut,
  ])
  expect(textsOf({ ...ended, at: at(2) }, oom, started, { ...ended, at: at(4) })).toEqual([
    ranOut,
    again,
    killed,
  ])
})

test('the reason of a kill is lacking while the engine may still tell of it, however the end is known', () => {
  const killed = { state: 'exited', exitCode: 137, oomKilled: false, startedAt: at(1) }
  const lacks = (found: object, ...news: LifecycleEvent[]) =>
    new ContainerLifecycle(cursor, { isKnown: true }).lacksReason(news, found as Container)
  const now = { ...killed, finishedAt: new Date() }
  const ended = { kind: 'ended', exitCode: 137, at: at(2) } as const
  const look = { kind: 'look' } as const
  expect(lacks(now, look)).toBe(true)
  expect(lacks({ ...killed, finishedAt: at(2) }, look)).toBe(false)
  expect(lacks({ ...now, exitCode: 1 }, look)).toBe(false)
  expect(lacks({ ...now, oomKilled: true }, look)).toBe(false)
  expect(lacks(now, { ...ended, isAsked: false })).toBe(true)
  expect(lacks(now, { ...ended, isAsked: true })).toBe(false)
  expect(lacks(now, { ...ended, isAsked: true }, look)).toBe(false)
  expect(lacks(now, { kind: 'oom', at: at(2) }, { ...ended, isAsked: false })).toBe(false)
})

test('a run is known to have begun though the clock was put back between the end before it and its start', () => {
  const endedAt = at(3600).getTime()
  const look = { kind: 'look' } as const
  const running = { state: 'running', exitCode: 0, startedAt: at(60) } as Container
  const life = new ContainerLifecycle({ ...cursor, endedAt }, { isKnown: true })
  expect(life.hear([look], { ...running, state: 'restarting' })).toEqual([])
  expect(life.hear([{ kind: 'started', at: at(60) }, look], running)).toHaveLength(1)
  expect(life.limit).toBe(Infinity)
  const ended = { kind: 'ended', at: at(90), exitCode: 1, isAsked: false } as const
  expect(life.hear([ended, look], running)).toHaveLength(1) // inspected before it ended
  expect(life.limit).toBe(at(90).getTime())
})
