import { expect, test } from 'bun:test'
import { away } from './simulated-restic.ts'
import { aService } from './scene.ts'

test('a change waits for the backup before it, and changes nothing when that fails', async () => {
  const s = await aService()
  const change = (more: object = {}) =>
    s.ada.put(`/services/${s.service.id}`, { compose: changed, ...more })
  const before = (await s.ada.get(`/services/${s.service.id}`)).json.containers[0].id
  s.restic.faults.storeVolumes = async () => {
    throw away()
  }
  const failed = await change({ backupFirst: true })
  expect(failed.json).toMatchObject({ status: 'running', error: { code: 'backup_failed' } })
  expect(failed.json.containers[0].id).toBe(before)
  delete s.restic.faults.storeVolumes
  const done = await change({ backupFirst: true })
  expect(done.json).toMatchObject({ status: 'running', error: null })
  expect(done.json.containers[0].id).not.toBe(before)
  const { items } = (await s.ada.get(s.path)).json
  expect(items).toMatchObject([{ status: 'succeeded' }, { status: 'failed' }])
})

const changed = `
services:
  one: { image: busybox, init: true, command: [sleep, "1234"], stop_grace_period: 1s, volumes: ["data:/data"] }
volumes: { data: {} }
`
