import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { updateUser } from '../../src/accounts/store.ts'
import { setOwner } from '../../src/admin/transfer-store.ts'
import { planForm } from '../../src/backups/forms.ts'
import { timed } from '../../src/backups/start.ts'
import { backupPlans, listPlansOn, setBackup } from '../../src/backups/store.ts'
import { events } from '../../src/db/schema.ts'
import { planAgain, startDue } from '../../src/jobs/due.ts'
import { turnPlansOff } from '../../src/server/store.ts'
import { expectRefusals } from '../support/refusals.ts'
import { aTarget } from './a-target.ts'
import { away, unreachable } from './simulated-restic.ts'
import { aService } from './scene.ts'

const night = '2026-05-04T03:00:00Z'

test('a plan backs up when it is due, keeps what it says, and forgets the rest on the target', async () => {
  const s = await aService()
  expect(await s.plan({ keepLast: 2, prove: 'never' })).toMatchObject({
    targetId: s.targetId,
    zone: 'UTC',
    keepDaily: 0,
    prove: 'never',
    hold: 'pause',
    overdue: false,
    problem: null,
  })
  const made: string[] = []
  for (let day = 0; day < 3; day++) {
    await s.due(night)
    await s.t.jobs.idle()
    made.unshift((await s.ada.get(s.path)).json.items[0].id)
  }
  const { items } = (await s.ada.get(s.path)).json
  expect(items.map(({ id }: { id: string }) => id)).toEqual(made.slice(0, 2))
  expect(items[0]).toMatchObject({ startedBy: 'plan', status: 'succeeded' })
  expect(s.restic.backups).toEqual(
    made
      .slice(0, 2)
      .toReversed()
      .map((id) => `backup=${id}`),
  )
})

test('the last backups are kept, also those that were made after the clock was put back', async () => {
  const s = await aService()
  await s.plan({ keepLast: 2, prove: 'never' })
  await s.backUp()
  const before = await s.backUp()
  for (const one of s.restic.snapshots) one.at = new Date('2100-01-01')
  const last = await s.backUp()
  expect(s.restic.backups).toEqual([`backup=${before.id}`, `backup=${last.id}`])
  expect((await s.ada.get(`/backups/${last.id}`)).json.removedAt).toBeNull()
})

test('what is proven stays, whatever the plan keeps', async () => {
  const s = await aService()
  await s.plan({ keepLast: 1 })
  const proven = await s.backUp()
  await s.ada.post(`/backups/${proven.id}/prove`)
  await s.t.jobs.idle()
  await s.backUp()
  const last = await s.backUp()
  const { items } = (await s.ada.get(s.path)).json
  expect(items.map(({ id }: { id: string }) => id)).toEqual([last.id, proven.id])
})

test('what the repository has of an earlier target, or of another Davit, is never removed by the plan', async () => {
  const s = await aService()
  const earlier = await s.backUp()
  const tags = ['davit', `subject=${s.service.id}`, 'backup=of-another']
  s.restic.add({ tags, paths: ['/dump'], bytes: 1 })
  const targetId = aTarget(s.t, s.ada.user.id)
  await s.plan({ targetId, keepLast: 1, prove: 'never' })
  await s.backUp({ targetId })
  const last = await s.backUp({ targetId })
  const left = [`backup=${earlier.id}`, 'backup=of-another', `backup=${last.id}`]
  expect(s.restic.backups).toEqual(left)
  expect((await s.ada.get(`/backups/${earlier.id}`)).json.removedAt).toBeNull()
})

test('what a failed backup left on the target takes the place of no backup', async () => {
  const s = await aService()
  await s.plan({ keepLast: 2, prove: 'never' })
  const first = await s.backUp()
  s.restic.faults.storeGathered = s.restic.faults.forget = unreachable
  expect(await s.backUp()).toMatchObject({ status: 'failed' })
  expect(s.restic.backups).toHaveLength(2)
  delete s.restic.faults.storeGathered
  // it can’t be removed yet either
  const last = await s.backUp()
  expect(last).toMatchObject({ status: 'succeeded' })
  delete s.restic.faults.forget
  const next = await s.backUp()
  expect(s.restic.backups).toEqual([`backup=${last.id}`, `backup=${next.id}`])
  expect((await s.ada.get(`/backups/${first.id}`)).json.removedAt).not.toBeNull()
})

test.each([false, true])(
  'a backup has succeeded whose old ones can’t be removed, the plan says so, and they are after the next one (removed until a failure: %s)',
  async (isRemoved) => {
    const s = await aService()
    await s.plan({ keepLast: 1, prove: 'never' })
    const { id } = await s.backUp()
    s.restic.faults.forget = async (options) => {
      if (isRemoved) await s.restic.usual.forget!(options)
      throw away()
    }
    const { id: second, status } = await s.backUp()
    expect(status).toBe('succeeded')
    const planned = () => s.ada.get(`${s.path}/plan`)
    expect((await planned()).json.problem.reason).toBe('retention_failed')
    const { items } = (await s.ada.get(s.path)).json
    expect(items.map(({ id }: { id: string }) => id)).toEqual([second])
    expect((await s.ada.get(`/backups/${id}`)).json.removedAt).not.toBeNull()
    delete s.restic.faults.forget
    const last = await s.backUp()
    expect((await planned()).json.problem).toBeNull()
    expect(s.restic.backups).toEqual([`backup=${last.id}`])
  },
)

test('what is on its own target is a plan’s problem, whatever is stored or left on another one', async () => {
  const s = await aService()
  await s.plan({ keepLast: 1, prove: 'never' })
  const other = { targetId: aTarget(s.t, s.ada.user.id) }
  const problem = async () => (await s.ada.get(`${s.path}/plan`)).json.problem
  s.restic.faults.forget = s.restic.faults.storeGathered = unreachable
  expect(await s.backUp(other)).toMatchObject({ status: 'failed' })
  delete s.restic.faults.storeGathered
  expect(await s.backUp(other)).toMatchObject({ status: 'succeeded' })
  expect(await problem()).toBeNull()
  for (const _ of [1, 2]) await s.backUp()
  delete s.restic.faults.forget
  expect(await s.backUp(other)).toMatchObject({ status: 'succeeded' })
  expect(await problem()).not.toBeNull()
  await s.backUp()
  expect(await problem()).toBeNull()
})

test('a due time without a backup is overdue until one succeeds', async () => {
  const s = await aService()
  await s.plan()
  s.restic.faults.storeVolumes = unreachable
  await s.due(night)
  await s.t.jobs.idle()
  const plan = async () => (await s.ada.get(s.path)).json.plan
  expect(await plan()).toMatchObject({ overdue: true, dueAt: '2026-05-04T03:00:00.000Z' })
  delete s.restic.faults.storeVolumes
  await s.backUp()
  expect(await plan()).toMatchObject({ overdue: false })
})

test('a backup of a clock that ran ahead is none of a due time since then', async () => {
  const s = await aService()
  await s.plan()
  const { id } = await s.backUp()
  setBackup(s.db, id, { createdAt: new Date('2100-01-01') })
  s.restic.faults.storeVolumes = unreachable
  await s.due(night)
  await s.t.jobs.idle()
  expect((await s.ada.get(s.path)).json.plan.overdue).toBe(true)
})

test('a due time is skipped while the backup before waits, its owner is disabled or its target is gone', async () => {
  const s = await aService()
  const plan = await s.plan()
  const reason = async () => (await s.ada.get(`${s.path}/plan`)).json.problem?.reason
  s.t.deps.jobs.wake = () => {} // no job begins
  await s.due(night)
  expect(await reason()).toBeUndefined()
  await s.due(night)
  expect(await reason()).toBe('overlap')
  expect(listPlansOn(s.db, plan.targetId)).toHaveLength(1)
  updateUser(s.db, s.ada.user.id, { disabledAt: new Date() })
  await s.due(night)
  updateUser(s.db, s.ada.user.id, { disabledAt: null })
  expect(await reason()).toBe('owner_disabled')
})

test('a change of a plan keeps what is omitted, and removing it keeps the backups', async () => {
  const s = await aService()
  await s.plan({ keepLast: 2, zone: 'Europe/Berlin' })
  await s.backUp()
  const { json } = await s.ada.put(`${s.path}/plan`, { hold: 'stop' })
  expect(json).toMatchObject({ hold: 'stop', keepLast: 2, zone: 'Europe/Berlin' })
  expect((await s.ada.delete(`${s.path}/plan`)).status).toBe(200)
  expect((await s.ada.get(`${s.path}/plan`)).status).toBe(404)
  expect((await s.ada.get(s.path)).json).toMatchObject({ plan: null, items: [{}] })
})

test('what is told as overdue ends with its plan', async () => {
  const s = await aService()
  s.restic.faults.storeVolumes = unreachable
  await s.plan()
  for (const _ of ['missed', 'told at the next']) {
    await s.due(night)
    await s.t.jobs.idle()
  }
  const told = () => {
    const isIt = eq(events.kind, 'backup_overdue')
    const found = s.db.select().from(events).where(isIt).orderBy(events.id).all()
    return found.map(({ level, endedAt }) => [level, endedAt !== null])
  }
  expect(told()).toEqual([['failure', false]])
  await s.ada.delete(`${s.path}/plan`)
  expect(told()).toEqual([
    ['failure', true],
    ['resolved', true],
  ])
})

test('a plan that is off backs up nothing and removes nothing until it is saved again', async () => {
  const s = await aService()
  const values = { keepLast: 1, prove: 'never' }
  await s.plan(values)
  const first = await s.backUp()
  turnPlansOff(s.db)
  expect((await s.ada.get(`${s.path}/plan`)).json.nextTimes).toEqual([])
  expect((await s.ada.page(s.path)).text).not.toContain('Next times')
  await planAgain(s.db, backupPlans, Date.now())
  await startDue(s.db, timed(s.t.deps), new Date('2100-01-01'))
  const second = await s.backUp()
  expect(s.restic.backups).toEqual([`backup=${first.id}`, `backup=${second.id}`])
  expect((await s.plan(values)).nextTimes).not.toEqual([])
  const third = await s.backUp()
  expect(s.restic.backups).toEqual([`backup=${third.id}`])
})

test('what a plan can’t be is refused', async () => {
  const s = await aService()
  const ofAnother = aTarget(s.t, s.t.logIn('eve@example.com').user.id)
  await expectRefusals(s.t, s.ada, {
    method: 'PUT',
    path: `${s.path}/plan`,
    valid: { targetId: s.targetId, schedule: '0 3 * * *' },
    wrong: {
      targetId: [ofAnother, 'mine', 7],
      schedule: ['0 0 30 2 *', '* * * * * *', 'at night', ''],
      zone: ['Mars/Base', '+02:00'],
      keepLast: [-1, 1001, 1.5, 'all'],
      prove: ['maybe'],
      acceptDamaged: [['/data/app.db'], ['data/../app.db'], ['data//app.db'], [''], 7],
      hold: ['kill'],
    },
    schema: planForm,
    notShown: ['targetId', 'prove', 'hold'],
  })
})

test('who takes over a user’s work takes over targets, plans and backups', async () => {
  const s = await aService()
  await s.plan()
  const backup = await s.backUp()
  const eve = s.t.logIn('eve@example.com')
  aTarget(s.t, eve.user.id)
  setOwner(s.db, { from: s.ada.user.id, to: eve.user.id })
  expect((await eve.get(`/backups/${backup.id}`)).json.targetId).toBe(s.targetId)
  expect((await eve.get(s.path)).json.plan.targetId).toBe(s.targetId)
  expect((await eve.get('/settings/targets')).json.items).toHaveLength(2)
  await s.due(night)
  await s.t.jobs.idle()
  expect((await eve.get(s.path)).json.items[0]).toMatchObject({
    startedBy: 'plan',
    status: 'succeeded',
  })
})
