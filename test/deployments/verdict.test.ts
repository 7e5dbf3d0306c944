import { expect, test } from 'bun:test'
import { Ends, Failures, verdictOf } from '../../src/deployments/watch/verdict.ts'

const all = ['crash', 'health', 'errors'] as const
const figures = (requests: number, errors: number) => ({ requests, errors, p50: null, p95: null })
type Pair = [number, number]
const errors = (after: Pair, before: Pair, estimated: Pair = [0, 0]) => {
  const both = { after: figures(...after), before: figures(...before) }
  return verdictOf(all, { kind: 'errors', ...both, estimated: figures(...estimated) })?.code
}

test('errors count from 20 requests, 5 %, and three times the share before', () => {
  const told = 'errors_after_switch'
  expect(errors([19, 19], [0, 0])).toBeUndefined()
  expect(errors([20, 1], [0, 0])).toBe(told)
  expect(errors([21, 1], [0, 0])).toBeUndefined()
  expect(errors([100, 5], [1000, 20])).toBeUndefined()
  expect(errors([100, 6], [1000, 20])).toBe(told)
  expect(errors([100, 100], [1000, 400])).toBeUndefined() // it was bad before
  expect(errors([0, 0], [0, 0])).toBeUndefined()
  expect(errors([35, 5], [0, 0], [16, 0])).toBeUndefined() // 19 have a line
  expect(errors([50, 5], [0, 0], [30, 0])).toBe(told)
  expect(errors([35, 11], [0, 0], [10, 10])).toBeUndefined() // one of 25 has a line
  expect(errors([35, 12], [0, 0], [10, 10])).toBe(told)
})

test('only what the environment names is a reason', () => {
  const ended = { exitCode: 1, isOutOfMemory: false }
  const crash = { kind: 'crash', name: 'the app', ended, memoryMb: 64 } as const
  expect(verdictOf(['health', 'errors'], crash)).toBeNull()
  expect(verdictOf(['crash'], crash)?.code).toBe('crashed_after_switch')
  const health = { kind: 'health', name: 'the app' } as const
  expect(verdictOf(['crash'], health)).toBeNull()
  expect(verdictOf(['health'], health)?.code).toBe('unhealthy_after_switch')
})

test('three failed health checks in a row of one container count, not those of a flapping one', () => {
  const run = (results: string) => {
    const failures = new Failures()
    return [...results].map((one) => failures.add('a', { passed: one === '+' }))
  }
  expect(run('--+--+--')).not.toContain(true)
  expect(run('+---')).toEqual([false, false, false, true])
  const two = new Failures()
  for (const id of ['a', 'b', 'a', 'b']) expect(two.add(id, { passed: false })).toBe(false)
})

test('a container that someone stops hasn’t ended by itself, until it was started again', () => {
  const ends = new Ends()
  const hear = (action: string, attributes: Record<string, string> = {}) =>
    ends.hear({ id: 'a', action, attributes })
  const crashed = { exitCode: 1, isOutOfMemory: false }
  hear('kill', { signal: '1' }) // it reloads
  expect(hear('die', { exitCode: '1' })).toEqual(crashed)
  hear('kill', { signal: '15' })
  expect(hear('die', { exitCode: '143' })).toBeNull()
  expect(hear('stop')).toBeNull()
  hear('start')
  expect(hear('die', { exitCode: '1' })).toEqual(crashed)
  expect(hear('oom')).toMatchObject({ isOutOfMemory: true })
})
