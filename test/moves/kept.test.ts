import { expect, onTestFinished, test } from 'bun:test'
import type { StoredMove } from '../../src/db/stored-move.ts'
import { giveUpServer } from '../../src/deployments/observe.ts'
import { backupsOf, endJob, insertJob } from '../../src/jobs/store.ts'
import { keepMoves, settleMoves } from '../../src/moves/keep.ts'
import type { Failure } from '../../src/platform/errors.ts'
import { firstServer } from '../../src/platform/root.ts'
import { Scheduler } from '../../src/platform/scheduler.ts'
import { openComponents } from '../../src/runtime/component.ts'
import { changeMove, getMove, refuseMoving, storeMove } from '../../src/runtime/move-store.ts'
import { settleMove } from '../../src/runtime/moves.ts'
import { pinTo } from '../../src/runtime/pins.ts'
import { getLiveRelease } from '../../src/runtime/store.ts'
import { getService } from '../../src/services/store.ts'
import { TestClock } from '../support/clock.ts'
import { until } from '../support/until.ts'
import { second, twoServers } from './scene.ts'

const signal = new AbortController().signal

const past = new Date(0).toISOString()

/** One whose old volumes would be removed now. */
const moved: StoredMove = {
  ...{ id: 'moved', from: firstServer, to: second, by: 'ada@example.com' },
  ...{ status: 'succeeded', at: past, outageMs: 1, bytes: 1, error: null, isDown: false },
  ...{ leftOn: firstServer, leftUntil: past },
}

test('what a move left is kept once it is all that there is, or runs again', async () => {
  const { t, subject, workload, all, own, state } = await twoServers()
  const kept = { volumes: [all, []], leftOn: null }
  storeMove(t.db, subject.id, moved)
  pinTo(t.db, workload, second)
  giveUpServer(t.deps, second)
  giveUpServer(t.deps, firstServer) // what runs there must not keep its volumes
  own.engine.containers.clear()
  expect(state().leftOn).toBeNull()
  for (const pinned of [null, firstServer]) {
    storeMove(t.db, subject.id, moved)
    pinTo(t.db, workload, pinned)
    await settleMove(t.deps, workload, { signal })
    expect(state()).toMatchObject(kept)
  }
  // where the new ones’ volumes were removed meanwhile
  storeMove(t.db, subject.id, moved)
  pinTo(t.db, workload, second)
  await settleMove(t.deps, workload, { signal })
  expect(state()).toMatchObject(kept)
})

test('nothing moves from where its volumes aren’t', async () => {
  const { t, ada, path, workload, all, state } = await twoServers()
  pinTo(t.db, workload, second)
  const { json } = await ada.post(path, { server: firstServer })
  expect(json).toMatchObject({ from: second, status: 'failed' })
  await t.jobs.idle()
  expect(state()).toMatchObject({ up: [2, 0], pinned: second, volumes: [all, []] })
})

test('what it had stays on the old server for a week, and its owner can delete it', async () => {
  const { t, ada, path, subject, all, state } = await twoServers()
  const { json } = await ada.post(path, { server: 'server2' })
  await t.jobs.idle()
  const days = (Date.parse(json.leftUntil) - Date.now()) / 86_400_000
  expect([json.leftOn, Math.round(days)]).toEqual([firstServer, 7])
  expect((await ada.page(`/services/${subject.id}`)).text).toContain('Before the move')
  await settleMoves(t.deps, { signal })
  expect(state()).toMatchObject({ volumes: [all, all], leftOn: firstServer })

  // neither while a backup may read it, nor while the old server is away
  const { ownerId } = t.db.$client.query('SELECT owner_id AS ownerId FROM services').get() as any
  const backup = insertJob(t.db, { kind: 'backup', subjectId: backupsOf(subject.id), ownerId })
  expect((await ada.delete(path)).json.leftOn).toBe(firstServer)
  endJob(t.db, backup.id)
  t.engines.setAway({ serverId: second }, true)
  await settleMoves(t.deps, { signal })
  expect(state()).toMatchObject({ volumes: [all, all], leftOn: firstServer })
  t.engines.setAway({ serverId: second }, false)
  await settleMoves(t.deps, { signal })
  expect(state()).toMatchObject({ volumes: [[], all], leftOn: null, up: [0, 2] })
  expect((await ada.delete(path)).status).toBe(409)
  expect((await ada.page(`/services/${subject.id}`)).text).not.toContain('Before the move')
})

test('what is left is deleted once its week is over, and before the next move', async () => {
  const { t, ada, path, subject, all, state } = await twoServers({ kind: 'environment' })
  for (const server of ['server2', firstServer]) {
    expect((await ada.post(path, { server })).json).toMatchObject({ status: 'succeeded' })
    await t.jobs.idle()
  }
  expect(state()).toMatchObject({ up: [2, 0], volumes: [all, all], leftOn: second })
  changeMove(t.db, subject.id, { leftUntil: past })
  await settleMoves(t.deps, { signal })
  expect(state()).toMatchObject({ up: [2, 0], volumes: [all, []], leftOn: null })
})

test('what a move left down is started a minute later, also by a clock that was put back', async () => {
  const { t, subject } = await twoServers()
  storeMove(t.db, subject.id, { ...moved, status: 'failed', from: second, isDown: true })
  t.engines.setAway({ serverId: second }, true)
  const clock = new TestClock('2026-05-04T03:00:00Z')
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  void keepMoves({ ...t.deps, scheduler: new Scheduler(clock) }, { signal: stop.signal })
  await clock.pass(0)
  t.engines.setAway({ serverId: second }, false)
  clock.set('2026-05-03T03:00:00Z')
  for (let minutes = 0; minutes < 3; minutes++) await clock.pass(60_000)
  await until(() => !getMove(t.db, subject.id)!.isDown)
})

test('a command isn’t begun beside volumes that don’t count any more', async () => {
  const { t, workload } = await twoServers()
  const [component] = openComponents(t.secrets, getLiveRelease(t.db, workload.id))!
  const begin = (serverId: string) =>
    codeOf(() => refuseMoving(t.db, { workload, subject: 'run', component: component!, serverId }))
  expect([begin(firstServer), begin(second)]).toEqual([null, 'being_moved'])
})

test('what is deleted with its volumes is also deleted where a move has left some', async () => {
  const { t, ada, path, subject, state } = await twoServers()
  for (const server of [second, firstServer]) {
    expect((await ada.post(path, { server })).json.status).toBe('succeeded')
    await t.jobs.idle()
  }
  const remove = () => ada.delete(`/services/${subject.id}`, { confirm: 'thing', volumes: true })
  t.engines.setAway({ serverId: second }, true)
  expect((await remove()).status).toBeGreaterThanOrEqual(400)
  expect(getService(t.db, subject.id)).toBeDefined()
  t.engines.setAway({ serverId: second }, false)
  await remove()
  expect(state().volumes).toEqual([[], []])
})

function codeOf(work: () => void) {
  try {
    work()
    return null
  } catch (error) {
    return (error as Failure).code
  }
}
