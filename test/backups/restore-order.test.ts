import { expect, test } from 'bun:test'
import type { BackupEngine } from '../../src/services/compose/declaration.ts'
import { unlessAborted } from '../../src/platform/pause.ts'
import { restoring, workOf } from './restoring.ts'
import { away } from './simulated-restic.ts'
import { aDatabase } from './simulated-tools.ts'

/** One whose backup has files of a volume that its server writes to beside its dump. */
async function aSharedVolume(engine: BackupEngine) {
  const scene = await aDatabase(engine, ['one'], 'more')
  const { ada, id, restic, runs, states } = scene
  restic.faults.readVolumes = async (options) => {
    runs.push('volumes', ...(await states()))
    return restic.usual.readVolumes(options)
  }
  return {
    ...scene,
    restore: () => ada.post(`/backups/${id}/restore`, { backupFirst: false }),
  }
}

test('volumes that a server writes to are replaced before its databases are loaded', async () => {
  const { t, runs, states, restore, restoreOf } = await aSharedVolume('redis')
  await restore()
  await t.jobs.idle()
  expect(restoreOf().status).toBe('succeeded')
  expect(runs).toEqual(['volumes', 'exited', 'load'])
  expect(await states()).toEqual(['running'])
})

test('nothing is replaced before the dump was read that is to be loaded over the files', async () => {
  const { t, restic, runs, restore, restoreOf } = await aSharedVolume('redis')
  restic.faults.read = () => Promise.reject(away())
  await restore()
  await t.jobs.idle()
  expect([restoreOf().status, runs]).toEqual(['failed', []])
})

test('a restore that Davit’s end interrupted while a server is stopped for its volumes begins again with them', async () => {
  const { t, id, restic, runs, states, restore, restoreOf } = await aSharedVolume('redis')
  const began = Promise.withResolvers<void>()
  const { readVolumes } = restic.faults
  restic.faults.readVolumes = ({ signal }) => {
    began.resolve()
    return unlessAborted(new Promise<never>(() => {}), signal)
  }
  await restore()
  await began.promise
  await t.jobs.stop()
  expect(await states()).toEqual(['exited'])
  restic.faults.readVolumes = readVolumes!
  runs.length = 0
  const { job, task } = restoring(t, id)
  await task.run(workOf(job))
  await task.end({ status: 'done' }, new AbortController().signal)
  expect(runs).toEqual(['volumes', 'exited', 'load'])
  expect(restoreOf().status).toBe('succeeded')
  expect(await states()).toEqual(['running'])
})
