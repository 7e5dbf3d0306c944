import { expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { Readable } from 'node:stream'
import { releaseAll } from '../../src/backups/hold.ts'
import { loadRestored } from '../../src/backups/server/load-restored.ts'
import { timed } from '../../src/backups/start.ts'
import { noteToLoad } from '../../src/db/restored.ts'
import { events, jobs } from '../../src/db/schema.ts'
import { startDue } from '../../src/jobs/due.ts'
import { cancelRestore } from '../../src/services/service-status.tsx'
import { unlessAborted } from '../../src/platform/pause.ts'
import { away, unreachable } from './simulated-restic.ts'
import { restoring, workOf } from './restoring.ts'
import { aService } from './scene.ts'

test('volumes are replaced while what writes to them is stopped, after a backup', async () => {
  const { restic, backUp, states, restore } = await aService()
  const { id, files } = await backUp()
  const seen: string[][] = []
  restic.faults.readVolumes = async (options) => {
    seen.push(await states())
    await restic.usual.readVolumes!(options)
  }
  const done = await restore(id)
  expect(done).toMatchObject({ answer: 200, status: 'succeeded', error: null, database: null })
  expect(seen).toEqual([['exited']])
  expect(await states()).toEqual(['running'])
  expect(restic.restored).toEqual([files[0].snapshot])
  expect(restic.backups).toEqual([`backup=${id}`, `backup=${done.before}`])
})

test('nothing is replaced when the backup before it fails, unless that is left out', async () => {
  const { restic, backUp, states, restore } = await aService()
  const { id } = await backUp()
  restic.faults.storeVolumes = unreachable
  expect(await restore(id)).toMatchObject({ status: 'failed' })
  expect(restic.restored).toEqual([])
  const { before, status } = await restore(id, { backupFirst: false })
  expect([before, status]).toEqual([null, 'succeeded'])
  expect(await states()).toEqual(['running'])
})

test('nothing is stopped or removed for volumes that the target doesn’t have whole', async () => {
  const { restic, backUp, t, restore } = await aService()
  const { id } = await backUp()
  restic.faults.read = async ({ to, signal }) => {
    await to(Readable.from([Buffer.from('half')]), signal)
    throw away()
  }
  const stopped: string[] = []
  t.faults.stopContainer = async (id) => (stopped.push(id), true)
  const { status } = await restore(id, { backupFirst: false })
  expect({ status, stopped, restored: restic.restored }).toEqual({
    ...{ status: 'failed', stopped: [], restored: [] },
  })
})

test('a service runs again when its volumes couldn’t be replaced, and the restore says so', async () => {
  const { restic, backUp, states, restore } = await aService()
  const { id } = await backUp()
  restic.faults.readVolumes = unreachable
  const { status, error } = await restore(id)
  expect(status).toBe('failed')
  expect(error).toContain('incomplete')
  expect(await states()).toEqual(['running'])
})

test('one restore at a time, which can be cancelled', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t, states, service } = scene
  const { id } = await backUp()
  const began = restic.stall('readVolumes')
  await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  await began
  expect((await ada.post(`/backups/${id}/restore`, {})).status).toBe(409)
  expect((await ada.post(`/services/${service.id}/restart`, {})).status).toBe(409)
  for (const page of [`/backups/${id}`, `/services/${service.id}`])
    expect((await ada.page(page)).text).toContain(`hx-confirm="${cancelRestore.text}"`)
  await ada.post(`/backups/${id}/cancel`, {})
  await t.jobs.idle()
  const { restore } = (await ada.get(`/backups/${id}`)).json
  // its volumes may be incomplete
  expect(restore).toMatchObject({ status: 'cancelled', error: expect.any(String) })
  expect(await states()).toEqual(['running'])
})

test('what isn’t a complete backup of something that is there can’t be restored', async () => {
  const { backUp, ada, t, service, restore } = await aService()
  const { id } = await backUp()
  const wrong = await ada.post(`/backups/${id}/restore`, { database: 'other' })
  expect([wrong.status, wrong.json.errors[0].field]).toEqual([422, 'database'])
  await ada.delete(`/services/${service.id}`)
  await t.jobs.idle()
  expect((await restore(id)).answer).toBe(409)
})

test('the backup before a restore doesn’t let the plan remove what is to be restored', async () => {
  const { restic, ada, backUp, plan, restore } = await aService()
  await plan({ keepLast: 1, prove: 'never' })
  const { id } = await backUp()
  let answer = 0
  restic.faults.readVolumes = async (options) => {
    answer = (await ada.delete(`/backups/${id}`)).status
    await restic.usual.readVolumes!(options)
  }
  const { status, before } = await restore(id)
  expect([status, answer]).toEqual(['succeeded', 409])
  expect(restic.backups).toEqual([`backup=${id}`, `backup=${before}`])
  const last = await backUp()
  expect(restic.backups).toEqual([`backup=${last.id}`])
})

test('the backup before a restore isn’t deleted until that has ended: what was replaced is only there', async () => {
  const { restic, ada, backUp, restore } = await aService()
  const { id } = await backUp()
  let answer = 0
  restic.faults.readVolumes = async (options) => {
    const { before } = (await ada.get(`/backups/${id}`)).json.restore
    answer = (await ada.delete(`/backups/${before}`)).status
    await restic.usual.readVolumes!(options)
  }
  const { status, before } = await restore(id)
  expect([status, answer]).toEqual(['succeeded', 409])
  expect((await ada.delete(`/backups/${before}`)).status).toBe(200)
})

test('a backup that is being deleted is neither restored nor proven, until that has failed', async () => {
  const { restic, ada, t, backUp, restore } = await aService()
  const { id } = await backUp()
  const began = Promise.withResolvers<void>()
  const forgetting = Promise.withResolvers<never>()
  restic.faults.forget = () => {
    began.resolve()
    return forgetting.promise
  }
  const deleted = ada.delete(`/backups/${id}`)
  await began.promise
  const begin = async (what: string, body = {}) =>
    (await ada.post(`/backups/${id}/${what}`, body)).status
  expect(await begin('restore')).toBe(409)
  expect(await begin('restore', { into: 'new' })).toBe(409)
  expect(await begin('prove')).toBe(409)
  expect((await ada.delete(`/backups/${id}`)).status).toBe(409)
  expect(t.db.select().from(jobs).all()).toEqual([])
  forgetting.reject(away())
  expect((await deleted).status).toBe(502)
  expect(await restore(id)).toMatchObject({ answer: 200, status: 'succeeded' })
})

test('what was stopped for a restore stays so over a restart of Davit, which continues it', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t, states, service } = scene
  const { id } = await backUp()
  const container = (await ada.get(`/services/${service.id}`)).json.containers[0].id
  const startByHand = async () => (await ada.post(`/containers/${container}/restart`)).status
  const began = restic.stall('readVolumes')
  await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  await began
  expect(await startByHand()).toBe(409)
  await t.jobs.stop()
  const { signal } = new AbortController()
  await releaseAll(t.deps, { signal })
  expect([await startByHand(), await states()]).toEqual([409, ['exited']])

  delete restic.faults.readVolumes
  const { job, task } = restoring(t, id)
  await task.run(workOf(job))
  await task.end({ status: 'done' }, signal)
  expect((await ada.get(`/backups/${id}`)).json.restore.status).toBe('succeeded')
  expect(restic.restored).toHaveLength(1)
  expect(await states()).toEqual(['running'])
  expect(await startByHand()).toBe(200)
})

test('a database that can’t be loaded after a restore of the whole server is told of, others aren’t', async () => {
  const { restic, backUp, db, t, restore } = await aService()
  const { id } = await backUp()
  restic.faults.list = unreachable
  const notices = () => db.select().from(events).where(eq(events.kind, 'backup_failed')).all()
  noteToLoad(db, id)
  loadRestored(t.deps, 'service')
  await t.jobs.idle()
  expect(notices()).toMatchObject([{ level: 'failure', href: `/backups/${id}` }])
  await restore(id, { backupFirst: false })
  expect(notices()).toHaveLength(1)
})

test.each(['failed', 'cancelled'])(
  'after a load of the whole server that ended as %s, the plan removes no backup until it is saved again',
  async (status) => {
    const scene = await aService()
    const { restic, ada, backUp, plan, db, t, path } = scene
    const values = { keepLast: 1, prove: 'never' }
    await plan(values)
    const { id } = await backUp()
    const began = Promise.withResolvers<void>()
    restic.faults.list = ({ signal }) => {
      began.resolve()
      if (status === 'failed') throw away()
      return unlessAborted(new Promise<never>(() => {}), signal)
    }
    noteToLoad(db, id)
    loadRestored(t.deps, 'service')
    await began.promise
    if (status === 'cancelled') await ada.post(`/backups/${id}/cancel`, {})
    await t.jobs.idle()
    expect((await ada.get(`/backups/${id}`)).json.restore.status).toBe(status)
    delete restic.faults.list
    await startDue(db, timed(t.deps), new Date('2100-01-01'))
    await t.jobs.idle()
    expect(restic.backups).toEqual([`backup=${id}`])
    const second = await backUp()
    expect(restic.backups).toEqual([`backup=${id}`, `backup=${second.id}`])
    expect((await ada.get(`${path}/plan`)).json.problem.reason).toBe('not_restored')

    expect((await plan(values)).problem).toBeNull()
    const third = await backUp()
    expect(restic.backups).toEqual([`backup=${third.id}`])
  },
)

const json = { headers: { Accept: 'application/json' } }

test('a file of a backup is downloaded whole, or breaks off', async () => {
  const { restic, backUp, ada, t } = await aService()
  const { id } = await backUp()
  restic.faults.read = async ({ file, to, signal }) => {
    await to(Readable.from([Buffer.from(`tar of ${file}`)]), signal)
  }
  const got = await ada.send(`/backups/${id}/download`, json)
  expect(await got.text()).toBe('tar of volumes')
  expect(got.headers.get('Content-Disposition')).toContain('thing-volumes.tar')

  restic.faults.read = unreachable
  expect((await ada.get(`/backups/${id}/download`)).status).toBe(502)
  restic.faults.read = async ({ to, signal }) => {
    await to(Readable.from([Buffer.from('half')]), signal)
    throw away()
  }
  const cut = await ada.send(`/backups/${id}/download`, json)
  expect(cut.text()).rejects.toThrow()
  expect((await ada.get(`/backups/${id}/download?file=other`)).status).toBe(422)
  const unended = new Readable({ read() {} })
  unended.push('its beginning')
  restic.faults.read = ({ to, signal }) => to(unended, signal)
  const head = await ada.send(`/backups/${id}/download`, { ...json, method: 'HEAD' })
  expect([head.status, t.streams.size]).toEqual([200, 0])
  expect(t.deps.streams.size).toBe(0)
})
