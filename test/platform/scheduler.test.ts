import { expect, onTestFinished, spyOn, test } from 'bun:test'
import { journal } from '../../src/platform/journal.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import type { Periodic } from '../../src/platform/scheduler.ts'
import { TestClock } from '../support/clock.ts'

const hour = 3_600_000

function setUp(at = '2026-05-04T10:00:30Z') {
  const clock = new TestClock(at)
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const ran: string[] = []
  const note = () => void ran.push(new Date(clock.now()).toISOString().slice(11, 19))
  return { clock, ran, note, stop, scheduler: new Scheduler(clock), signal: stop.signal }
}

/** Due once, at a time of the clock. */
const onceAt = (at: string, run: () => unknown): Periodic => {
  let due: number | null = Date.parse(at)
  return { next: () => due, run: () => ((due = null), run()), failed: 'it failed' }
}

/** Kept from the output of the tests. */
function reports() {
  const log = spyOn(journal, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  return log
}

test('without anything due there is no timer', async () => {
  const { clock, scheduler, signal } = setUp()
  void scheduler.keep({ next: () => null, run() {}, failed: '' }, { signal })
  await clock.pass(24 * hour)
  expect(clock).toMatchObject({ timers: 0, wakes: 0 })
})

test('what is repeated runs at once, then all at the same beats', async () => {
  const { clock, ran, note, scheduler, signal } = setUp()
  void scheduler.repeat(20_000, note, { signal, failed: '' })
  void scheduler.repeat(60_000, note, { signal, failed: '' })
  await clock.pass(60_000)
  const beats = ['10:00:40', '10:01:00', '10:01:00', '10:01:20']
  expect(ran).toEqual(['10:00:30', '10:00:30', ...beats])
  expect(clock.timers).toBe(1)
})

test('what still runs when it is due again runs once more after it, not beside it', async () => {
  const { clock, scheduler, signal } = setUp()
  let running = 0
  let most = 0
  const ends: (() => void)[] = []
  const run = async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => ends.push(resolve))
    running--
  }
  void scheduler.repeat(1000, run, { signal, failed: '' })
  await clock.pass(5000)
  expect(ends).toHaveLength(1)
  ends[0]!()
  await clock.pass(1000)
  expect(ends).toHaveLength(2)
  expect(most).toBe(1)
  ends[1]!()
})

test('what fails is reported, holds up nothing else, and is not tried in a busy loop', async () => {
  const log = reports()
  const { clock, ran, note, scheduler, signal } = setUp()
  let tries = 0
  const failing = () => {
    tries++
    throw new Error('broken')
  }
  void scheduler.keep({ next: (now) => now, run: failing, failed: 'it failed' }, { signal })
  void scheduler.repeat(60_000, note, { signal, failed: '' })
  await clock.pass(60_000)
  expect(ran).toEqual(['10:00:30', '10:01:00'])
  expect(tries).toBeWithin(2, 62)
  expect(log.mock.calls[0]![0]).toBe('it failed')
})

test('a task whose next time can’t be read is asked again', async () => {
  reports()
  const { clock, ran, note, scheduler, signal } = setUp()
  let isBroken = true
  const { next, ...rest } = onceAt('2026-05-04T10:05:00Z', note)
  const broken: Periodic['next'] = (...asked) => {
    if (isBroken) throw new Error('the database is locked')
    return next(...asked)
  }
  void scheduler.keep({ ...rest, next: broken }, { signal })
  isBroken = false
  scheduler.wake()
  await clock.until('2026-05-04T10:06:00Z')
  expect(ran).toEqual(['10:05:00'])
})

test('a clock that is put forward makes due what it passed, within a minute', async () => {
  const { clock, ran, note, scheduler, signal } = setUp()
  void scheduler.keep(onceAt('2026-05-04T15:00:00Z', note), { signal })
  await clock.pass(hour)
  clock.set('2026-05-04T18:00:00Z')
  await clock.pass(60_000)
  expect(ran).toHaveLength(1)
  expect(ran[0]).toBe('18:01:00')
})

test('a clock that is put back neither stops what is repeated nor runs it more often', async () => {
  const { clock, ran, note, scheduler, signal } = setUp()
  void scheduler.repeat(hour, note, { signal, failed: '' })
  await clock.until('2026-05-04T11:30:00Z')
  clock.set('2026-05-04T08:15:00Z')
  await clock.until('2026-05-04T10:30:00Z')
  expect(ran).toEqual(['10:00:30', '11:00:00', '09:00:00', '10:00:00'])
})

test('a task is told that the clock was set', async () => {
  const { clock, scheduler, signal } = setUp()
  const told: boolean[] = []
  const next = (now: number, { wasSet }: { wasSet: boolean }) => (
    told.push(wasSet),
    now + 10 * hour
  )
  void scheduler.keep({ next, run() {}, failed: '' }, { signal })
  await clock.pass(60_000)
  clock.set('2026-05-04T09:00:00Z')
  await clock.pass(60_000)
  expect(told).toEqual([false, true])
})

test('a task that runs while the clock is set is told when it has ended', async () => {
  const { clock, scheduler, signal } = setUp()
  const told: boolean[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const next = (now: number, { wasSet }: { wasSet: boolean }) => {
    told.push(wasSet)
    return told.length === 1 ? now : now + 10 * hour
  }
  void scheduler.keep({ next, run: () => promise, failed: '' }, { signal })
  void scheduler.repeat(1000, () => {}, { signal, failed: '' })
  await clock.pass(1000)
  clock.set('2026-05-04T09:00:00Z')
  await clock.pass(1000)
  expect(told).toEqual([false])
  resolve()
  await clock.pass(1000)
  expect(told).toEqual([false, true])
})

test('the signal ends it once its last run has ended', async () => {
  const { clock, stop, scheduler, signal } = setUp()
  const { promise, resolve } = Promise.withResolvers<void>()
  let hasEnded = false
  const kept = scheduler.repeat(1000, () => promise, { signal, failed: '' })
  void kept.then(() => (hasEnded = true))
  await clock.pass(1)
  stop.abort()
  await clock.pass(5000)
  expect(hasEnded).toBe(false)
  resolve()
  await kept
  expect(clock.timers).toBe(0)
})
