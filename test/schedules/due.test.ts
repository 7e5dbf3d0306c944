import { describe, expect, onTestFinished, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { deployments, environments, jobs, schedules } from '../../src/db/schema.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { planAgain, startDue } from '../../src/jobs/due.ts'
import { keepSchedules, timed } from '../../src/schedules/start.ts'
import { until } from '../support/until.ts'
import { TestClock } from '../support/clock.ts'
import { scheduled } from './scene.ts'

const minute = 60_000
const night = '2026-05-04T03:00:00Z'

test('what is due becomes one run of the live image, and the next time is planned with it', async () => {
  const s = await scheduled({ timeout: 99 })
  await s.due(night)
  expect(s.runs()).toMatchObject([
    { command: 'true', timeout: 99, scheduleId: s.scheduleId, startedBy: 'schedule nightly' },
  ])
  expect(s.runs()[0]!.deploymentId).toBe(s.live.id)
  await startDue(s.db, timed(s.t.deps), new Date(night))
  expect(s.runs()).toHaveLength(1)
  expect(await s.shown()).toMatchObject({ dueAt: '2026-05-04T03:00:00.000Z', problem: null })
})

test('a kill between the run and the next time leaves neither', async () => {
  const s = await scheduled()
  s.set({ nextAt: new Date(night) })
  const killed = new Error('killed')
  const { query } = s.db.$client
  s.db.$client.query = ((text: string) => {
    if (/update "schedules"/.test(text)) throw killed
    return query.call(s.db.$client, text)
  }) as typeof query
  s.db.$client.prepare = s.db.$client.query as never
  await expect(startDue(s.db, timed(s.t.deps), new Date(night))).rejects.toThrow()
  s.db.$client.query = query
  delete (s.db.$client as { prepare?: unknown }).prepare
  expect(s.runs()).toEqual([])
  await startDue(s.db, timed(s.t.deps), new Date(night))
  expect(s.runs()).toHaveLength(1)
})

test('nothing runs while the account of its owner is disabled', async () => {
  const s = await scheduled()
  s.db.$client.run('UPDATE users SET disabled_at = 1')
  await s.due(night)
  expect(s.runs()).toEqual([])
  s.db.$client.run('UPDATE users SET disabled_at = NULL')
  expect((await s.shown()).problem.reason).toBe('owner_disabled')
  await s.due('2026-05-05T03:00:00Z')
  expect(s.runs()).toHaveLength(1)
})

describe('while the run before has not ended', () => {
  test('it is skipped, which is no failure', async () => {
    const s = await scheduled()
    await s.due(night)
    await s.due('2026-05-05T03:00:00Z')
    expect(s.runs()).toHaveLength(1)
    expect((await s.shown()).problem.reason).toBe('overlap')
    expect((await s.ada.page(`/projects/${s.project.id}/envs/${s.id}`)).text).not.toContain(
      'failed last time',
    )
    s.endRuns()
    await s.due('2026-05-06T03:00:00Z')
    expect(s.runs()).toHaveLength(2)
    expect((await s.shown()).problem).toBeNull()
  })

  test('it waits its turn, but not more than eleven of them', async () => {
    const s = await scheduled({ overlap: 'queue' })
    for (let day = 1; day <= 13; day++)
      await s.due(`2026-05-${String(day).padStart(2, '0')}T03:00:00Z`)
    expect(s.runs()).toHaveLength(11)
    const subjects = s.db.select({ id: jobs.subjectId }).from(jobs).all()
    expect(new Set(subjects.map(({ id }) => id))).toEqual(new Set([s.scheduleId]))
    expect((await s.shown()).problem.reason).toBe('overlap')
  })

  test('it is replaced', async () => {
    const s = await scheduled({ overlap: 'replace' })
    await s.due(night)
    const [first] = s.runs()
    await s.due('2026-05-05T03:00:00Z')
    await until(() => s.runs()[0]!.status === 'cancelled')
    const [before, after] = s.runs()
    expect(before).toMatchObject({ id: first!.id, status: 'cancelled' })
    expect(after).toMatchObject({ status: 'pending' })
  })

  test('a cancel that fails, such as at Davit’s end on a full disk, ends nothing else', async () => {
    const s = await scheduled({ overlap: 'replace' })
    await s.due(night)
    s.t.jobs.cancel = () => Promise.reject(new Error('the disk is full'))
    await s.due('2026-05-05T03:00:00Z')
    expect(s.runs()).toHaveLength(2)
  })
})

describe('a time that was missed', () => {
  test.each([
    ['skip', 1 * minute, 1, null],
    ['skip', 10 * minute, 0, 'missed'],
    ['once', 10 * minute, 1, null],
    ['once', 9 * 24 * 60 * minute, 1, null],
  ])('with %s after %i ms makes %i runs', async (missed, late, count, code) => {
    const s = await scheduled({ missed })
    await s.due(night, { late })
    expect(s.runs()).toHaveLength(count)
    expect((await s.shown()).problem?.reason ?? null).toBe(code)
    await startDue(s.db, timed(s.t.deps), new Date(Date.parse(night) + late))
    expect(s.runs()).toHaveLength(count)
  })
})

test('where nothing is deployed it says so, and on the environment’s page too', async () => {
  const s = await scheduled()
  s.db.delete(deployments).where(eq(deployments.id, s.live.id)).run()
  await s.due(night)
  expect(s.runs()).toEqual([])
  expect((await s.shown()).problem.reason).toBe('nothing_deployed')
  const { text } = await s.ada.page(`/projects/${s.project.id}/envs/${s.id}`)
  expect(text).toContain('1 schedule failed last time')
})

test('one whose last run failed stands on the environment’s page until one succeeds', async () => {
  const s = await scheduled()
  const overview = async () =>
    (await s.ada.page(`/projects/${s.project.id}/envs/${s.id}`)).text.includes('failed last time')
  await s.due(night)
  s.endRuns('failed')
  expect(await overview()).toBe(true)
  await s.due('2026-05-05T03:00:00Z')
  s.endRuns('succeeded')
  expect(await overview()).toBe(false)
})

test('in an environment that is being deleted nothing starts', async () => {
  const s = await scheduled()
  s.db.update(environments).set({ deletingAt: new Date() }).where(eq(environments.id, s.id)).run()
  await s.due(night)
  expect(s.runs()).toEqual([])
})

test('deleting the environment ends the runs of its schedules, also of one that is gone', async () => {
  const s = await scheduled({ overlap: 'queue' })
  await s.due(night)
  await s.due('2026-05-05T03:00:00Z')
  expect((await s.ada.delete(s.one)).status).toBe(200)
  expect(s.runs()).toMatchObject([{ scheduleId: null }, { scheduleId: null }])
  await s.ada.post(`/projects/${s.project.id}/envs`, { name: 'other' })
  const gone = await s.ada.delete(`/projects/${s.project.id}/envs/${s.id}`)
  expect(gone.status).toBe(200)
  expect(s.db.select().from(jobs).all()).toEqual([])
})

describe('a clock that was set', () => {
  const at = (text: string) => Date.parse(text)

  test('back by a little repeats no time', async () => {
    const s = await scheduled()
    s.set({ nextAt: new Date('2026-05-05T03:00:00Z'), dueAt: new Date(night) })
    await planAgain(s.db, schedules, at('2026-05-04T02:30:00Z'))
    expect((await nextOf(s)).toISOString()).toBe('2026-05-05T03:00:00.000Z')
  })

  test('back by years plans again', async () => {
    const s = await scheduled()
    s.set({ nextAt: new Date('2036-05-05T03:00:00Z'), dueAt: new Date('2036-05-04T03:00:00Z') })
    await planAgain(s.db, schedules, at('2026-05-04T02:30:00Z'))
    expect((await nextOf(s)).toISOString()).toBe('2026-05-04T03:00:00.000Z')
  })

  test('forward: what was passed over is due once, as missed, and the next is after the new time', async () => {
    for (const missed of ['once', 'skip']) {
      const s = await scheduled({ missed })
      await s.due('2026-05-04T03:00:00Z', { late: 30 * 86_400_000 })
      expect(s.runs()).toHaveLength(missed === 'once' ? 1 : 0)
      expect((await nextOf(s)).toISOString()).toBe('2026-06-04T03:00:00.000Z')
    }
  })

  const nextOf = async (s: Awaited<ReturnType<typeof scheduled>>) => {
    const row = s.db.$client.query('SELECT next_at FROM schedules').get() as { next_at: number }
    return new Date(row.next_at)
  }
})

test('one timer waits for the next of a thousand', async () => {
  const s = await scheduled()
  const insert = s.db.$client.query(
    `INSERT INTO schedules (id, environment_id, name, command, schedule, next_at, created_at)
     SELECT ?, environment_id, ?, command, '*/5 * * * *', ?, created_at FROM schedules WHERE id = ?`,
  )
  const first = Date.parse('2026-05-04T03:05:00Z')
  s.db.$client.transaction(() => {
    for (let i = 0; i < 999; i++) insert.run(Bun.randomUUIDv7(), `n${i}`, first, s.scheduleId)
  })()
  s.set({ nextAt: new Date(first), schedule: '*/5 * * * *' })
  const clock = new TestClock('2026-05-04T03:00:30Z')
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const scheduler = new Scheduler(clock)
  const deps = { ...s.t.deps, scheduler }
  void keepSchedules(deps, { signal: stop.signal })
  await clock.pass(0)
  await until(() => clock.timers === 1) // all are planned
  await clock.pass(4 * minute)
  expect(s.runs()).toEqual([])
  expect(clock.timers).toBe(1)
  await clock.pass(minute)
  await until(() => s.runs().length === 1000)
  expect(new Set(s.runs().map(({ scheduleId }) => scheduleId)).size).toBe(1000)
})
