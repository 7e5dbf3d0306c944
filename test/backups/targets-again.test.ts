import { expect, test } from 'bun:test'
import { Failure } from '../../src/platform/errors.ts'
import { away, unreachable } from './simulated-restic.ts'
import { aService } from './scene.ts'
import { path as settings, rest, s3 } from './target-scene.ts'

/** A service with a backup, and one that failed, whose target was removed. */
async function removed(overrides: Parameters<typeof aService>[0] = {}) {
  const s = await aService(overrides)
  const see = async (id: string) => (await s.ada.get(`/backups/${id}`)).json
  const removeTarget = async (id = s.targetId) => {
    const { status, text } = await s.ada.delete(`${settings}/${id}`)
    if (status !== 200) throw new Error(text)
  }
  const { id } = await s.backUp()
  s.restic.faults.storeVolumes = unreachable
  const { id: failed } = await s.backUp()
  delete s.restic.faults.storeVolumes
  await removeTarget()
  return { ...s, id, failed, see, removeTarget }
}

/** What asks something of a backup. */
const requests = ({ ada, id }: Awaited<ReturnType<typeof removed>>) => [
  ada.post(`/backups/${id}/prove`),
  ada.get(`/backups/${id}/restore`),
  ada.get(`/backups/${id}/download?file=volumes`),
  ada.post(`/backups/${id}/restore`, { backupFirst: false }),
]

test('a backup whose target was removed is refused, and only taken off the list', async () => {
  const s = await removed()
  for (const request of requests(s)) expect((await request).status).toBe(409)
  const { text } = await s.ada.page(`/backups/${s.id}`)
  for (const one of ['prove', 'restore', 'download'])
    expect(text).not.toContain(`/backups/${s.id}/${one}`)
  expect(text).toContain(`action="/backups/${s.id}"`)
  s.restic.faults.list = unreachable
  expect((await s.ada.delete(`/backups/${s.id}`)).status).toBe(200)
  expect((await s.ada.get(`/backups/${s.id}`)).status).toBe(404)
  expect(s.restic.backups).toEqual([`backup=${s.id}`])
})

test('a target that is added again has its backups, which are as usable as before', async () => {
  const s = await removed()
  const { json } = await s.ada.post(settings, s3)
  expect((await s.see(s.id)).targetId).toBe(json.id)
  for (const request of requests(s)) {
    expect((await request).status).toBe(200)
    await s.t.jobs.idle()
  }
  expect(await s.see(s.id)).toMatchObject({
    proven: { error: null },
    restore: { status: 'succeeded', error: null },
  })
  expect((await s.ada.delete(`/backups/${s.id}`)).status).toBe(200)
  expect(s.restic.backups).toEqual([])
})

test('what a target has again is kept by the plan like any other, and what is removed is marked', async () => {
  const s = await aService()
  const proven = await s.backUp()
  await s.ada.post(`/backups/${proven.id}/prove`)
  await s.t.jobs.idle()
  const other = await s.backUp()
  await s.ada.delete(`${settings}/${s.targetId}`)
  const { json } = await s.ada.post(settings, s3)
  await s.plan({ targetId: json.id, keepLast: 1, prove: 'never' })
  const last = await s.backUp({ targetId: json.id })
  expect(s.restic.backups).toEqual([`backup=${proven.id}`, `backup=${last.id}`])
  const see = async (id: string) => (await s.ada.get(`/backups/${id}`)).json.removedAt
  expect([await see(proven.id), await see(last.id)]).toEqual([null, null])
  expect(await see(other.id)).not.toBeNull()
})

test('what a plan has removed, but a failure left there in part, is removed once the target is back', async () => {
  const s = await aService()
  await s.plan({ keepLast: 1, prove: 'never' })
  await s.backUp()
  s.restic.faults.forget = async ({ snapshots, signal }) => {
    await s.restic.usual.forget({ snapshots: snapshots.slice(0, 1), signal })
    throw away()
  }
  const kept = await s.backUp()
  delete s.restic.faults.forget
  await s.ada.delete(`${s.path}/plan`)
  await s.ada.delete(`${settings}/${s.targetId}`)
  const { json } = await s.ada.post(settings, s3)
  const last = await s.backUp({ targetId: json.id })
  expect(s.restic.backups).toEqual([`backup=${kept.id}`, `backup=${last.id}`])
})

test('a target gets only what is its owner’s, lost its target, and is there whole', async () => {
  const s = await removed()
  const bob = s.t.logIn('bob@example.com')
  expect((await bob.post(settings, s3)).status).toBe(201)
  expect((await s.see(s.id)).targetId).toBe(s.targetId)

  // another repository, or one that was emptied
  const snapshots = s.restic.snapshots.splice(0)
  const { json: empty } = await s.ada.post(settings, s3)
  expect((await s.see(s.id)).targetId).toBe(s.targetId)

  // only its description
  const [volumes, ...rests] = snapshots
  s.restic.snapshots.push(...rests)
  const test = `${settings}/${empty.id}/test`
  expect((await s.ada.post(test, {})).status).toBe(200)
  expect((await s.see(s.id)).targetId).toBe(s.targetId)

  s.restic.snapshots.push(volumes!)
  expect((await s.ada.post(test, {})).status).toBe(200)
  expect((await s.see(s.id)).targetId).toBe(empty.id)

  // now it has a target
  const { json: second } = await s.ada.post(settings, rest)
  expect((await s.see(s.id)).targetId).toBe(empty.id)
  await s.removeTarget(empty.id)
  expect((await s.ada.post(`${settings}/${second.id}/test`, {})).status).toBe(200)
  expect((await s.see(s.id)).targetId).toBe(second.id)
  expect((await s.see(s.failed)).targetId).toBe(s.targetId)
})

test('a target whose snapshots can’t be listed is stored, and a test of it looks again', async () => {
  let fails = true
  const s = await removed({
    async listTarget(_, options) {
      if (fails) throw new Failure('target_slow', 'It is slow.', 'Wait.')
      return s.restic.usual.list(options)
    },
  })
  const { status, json } = await s.ada.post(settings, s3)
  expect(status).toBe(201)
  expect((await s.see(s.id)).targetId).toBe(s.targetId)
  fails = false
  await s.ada.post(`${settings}/${json.id}/test`, {})
  expect((await s.see(s.id)).targetId).toBe(json.id)
})

test('a target that isn’t stored, or leads elsewhere by now, gets nothing', async () => {
  let meanwhile = async () => {}
  const s = await removed({
    async listTarget({ bucket }, options) {
      const listed = bucket === s3.bucket ? await s.restic.usual.list(options) : []
      await meanwhile()
      return listed
    },
  })
  const { json: other } = await s.ada.post(settings, { ...s3, bucket: 'other' })
  // its name is taken
  expect((await s.ada.post(settings, s3)).status).toBe(409)
  expect((await s.see(s.id)).targetId).toBe(s.targetId)
  const target = `${settings}/${other.id}`
  expect((await s.ada.put(target, { bucket: s3.bucket })).status).toBe(200)
  expect((await s.see(s.id)).targetId).toBe(other.id)

  await s.removeTarget(other.id)
  const { json: third } = await s.ada.post(settings, { ...s3, bucket: 'third' })
  s.t.db.$client.run(`UPDATE targets SET bucket = '${s3.bucket}' WHERE id = '${third.id}'`)
  meanwhile = async () => {
    s.t.db.$client.run(`UPDATE targets SET bucket = 'third' WHERE id = '${third.id}'`)
  }
  expect((await s.ada.post(`${settings}/${third.id}/test`, {})).status).toBe(200)
  expect((await s.see(s.id)).targetId).toBe(other.id)
})
