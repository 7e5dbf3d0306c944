import { expect, test } from 'bun:test'
import { unlessAborted } from '../../src/platform/pause.ts'
import { until } from '../support/until.ts'
import { aService } from './scene.ts'

/** Proves a backup to the end. */
async function prove({ ada, t }: Awaited<ReturnType<typeof aService>>, id: string) {
  const { status } = await ada.post(`/backups/${id}/prove`, {})
  await t.jobs.idle()
  const { json } = await ada.get(`/backups/${id}`)
  return { ...json, answer: status }
}

test('volumes are restored beside the real ones, and their bytes compared', async () => {
  const scene = await aService()
  const { restic, backUp } = scene
  const { id, proven } = await backUp()
  expect(proven).toBeNull()
  expect(await prove(scene, id)).toMatchObject({
    proving: false,
    proven: { error: null, rows: null },
  })

  restic.faults.measureVolumes = async () => 999
  const { proven: failed } = await prove(scene, id)
  expect(failed.error).toBeString()
  const events = await scene.ada.get('/settings/events')
  const { kind, level, text, serviceId } = events.json.items[0]
  const { id: subjectId } = scene.service
  expect({ kind, level, serviceId }).toEqual({
    ...{ kind: 'backup_unproven', level: 'failure', serviceId: subjectId },
  })
  expect(text).toContain('999')
  expect(text).not.toContain('undefined')

  delete restic.faults.measureVolumes
  await prove(scene, id)
  const { json } = await scene.ada.get('/settings/events')
  expect(json.items[0]).toMatchObject({ kind: 'backup_unproven', level: 'resolved' })
})

test('one whose description is gone, or is another’s, isn’t proven: a new server wouldn’t find it', async () => {
  const scene = await aService()
  const { restic, backUp } = scene
  const [first, second] = [await backUp(), await backUp()]
  const [[ofFirst], [ofSecond, theirs]] = [...restic.descriptions] as never as [
    [string, Buffer],
    [string, Buffer],
  ]
  restic.descriptions.set(ofFirst, theirs)
  expect((await prove(scene, first.id)).proven.error).toContain('backup.json')
  expect((await prove(scene, second.id)).proven.error).toBeNull()

  restic.snapshots.splice(
    restic.snapshots.findIndex(({ id }) => id === ofSecond),
    1,
  )
  expect((await prove(scene, second.id)).proven.error).toBeString()
})

test('only the newest proven backup is kept beyond the plan', async () => {
  const scene = await aService()
  const { restic, backUp, plan } = scene
  await plan({ keepLast: 1, prove: 'never' })
  const first = await backUp()
  await prove(scene, first.id)
  const second = await backUp()
  const third = await backUp()
  expect(restic.backups).toEqual([`backup=${first.id}`, `backup=${third.id}`])
  expect(second.proven).toBeNull()
  await prove(scene, third.id)
  const last = await backUp()
  expect(restic.backups).toEqual([`backup=${third.id}`, `backup=${last.id}`])
})

test('a plan has each backup proven, or one a week', async () => {
  const scene = await aService()
  const { backUp, plan, ada } = scene
  const isProven = async ({ id }: { id: string }) =>
    (await ada.get(`/backups/${id}`)).json.proven !== null
  await plan({ prove: 'each' })
  expect(await isProven(await backUp())).toBe(true)
  expect(await isProven(await backUp())).toBe(true)
  await plan({ prove: 'weekly' })
  expect(await isProven(await backUp())).toBe(false)
})

test('a proof can be cancelled, which says nothing of the backup', async () => {
  const scene = await aService()
  const { restic, backUp, ada, t } = scene
  const { id } = await backUp()
  const began = Promise.withResolvers<void>()
  restic.faults.measureVolumes = ({ signal }) => {
    began.resolve()
    return unlessAborted(new Promise<never>(() => {}), signal)
  }
  expect((await ada.post(`/backups/${id}/prove`, {})).json.proving).toBe(true)
  await began.promise
  expect((await ada.post(`/backups/${id}/prove`, {})).status).toBe(409)
  expect((await ada.delete(`/backups/${id}`)).status).toBe(409)
  await ada.post(`/backups/${id}/cancel`, {})
  await t.jobs.idle()
  expect((await ada.get(`/backups/${id}`)).json).toMatchObject({ proving: false, proven: null })
})

test('a backup that failed can’t be proven', async () => {
  const scene = await aService()
  scene.restic.faults.storeVolumes = async () => {
    throw new Error('away')
  }
  const { id } = await scene.backUp()
  expect((await prove(scene, id)).answer).toBe(409)
})

test('a plan removes no backup while it is proven', async () => {
  const scene = await aService()
  const { restic, backUp, plan, ada, t } = scene
  await plan({ keepLast: 1, prove: 'never' })
  const { id } = await backUp()
  const goOn = Promise.withResolvers<void>()
  const began = Promise.withResolvers<void>()
  restic.faults.measureVolumes = async (options) => {
    began.resolve()
    await goOn.promise
    return restic.usual.measureVolumes(options)
  }
  await ada.post(`/backups/${id}/prove`, {})
  await began.promise
  const { json } = await ada.post(scene.path, {})
  await until(() => restic.backups.length === 2)
  goOn.resolve()
  await t.jobs.idle()
  expect(restic.backups).toEqual([`backup=${id}`, `backup=${json.id}`])
  expect((await ada.get(`/backups/${id}`)).json.proven.error).toBeNull()
})
