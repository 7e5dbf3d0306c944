import { expect, test } from 'bun:test'
import { EngineError } from '../../src/docker/index.ts'
import { hasJob } from '../../src/jobs/store.ts'
import { until } from '../support/until.ts'
import { unreachable } from './simulated-restic.ts'
import { aService } from './scene.ts'

test('a change waits for the backup before it, and changes nothing when that fails', async () => {
  const s = await aService()
  const change = (more: object = {}) =>
    s.ada.put(`/services/${s.service.id}`, { compose: changed, ...more })
  const before = (await s.ada.get(`/services/${s.service.id}`)).json.containers[0].id
  s.restic.faults.storeVolumes = unreachable
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

/** A service whose backup holds it until it is told to go on, and which nothing is at work on otherwise. */
async function aHeld() {
  const s = await aService()
  const { t, ada, path, restic, service, targetId } = s
  const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  restic.faults.storeVolumes = async (options) => {
    begun.resolve()
    await over.promise
    return restic.usual.storeVolumes(options)
  }
  await ada.post(path, { targetId, hold: 'pause' })
  await begun.promise
  return {
    ...{ ...s, at: `/services/${service.id}` },
    isBusy: () => hasJob(t.db, service.id),
    /** What there is of it after the backup. */
    async goOn() {
      over.resolve()
      await t.jobs.idle()
      const { status } = (await ada.get(`/services/${service.id}`)).json
      return { status, states: await s.states() }
    },
  }
}

test('a change that fails while a backup holds the service removes nothing of it', async () => {
  const { t, ada, at, states, isBusy, goOn } = await aHeld()
  t.faults.pullImage = () => {
    throw new EngineError(404, 'no such image')
  }
  await ada.put(at, { compose: changed.replace('busybox', 'nowhere') })
  await until(() => !isBusy())
  expect((await ada.get(at)).json).toMatchObject({ status: 'running', error: expect.anything() })
  expect(await states()).toEqual(['paused'])
  expect(await goOn()).toEqual({ status: 'running', states: ['running'] })
})

test.each(['stop', 'restart', 'change'])(
  'a %s that waits for a backup is cancelled at once, and nothing has changed',
  async (verb) => {
    const { t, ada, service, at, states, isBusy, goOn } = await aHeld()
    const asked = verb === 'change' ? ada.put(at, { compose: changed }) : ada.post(`${at}/${verb}`)
    await until(() => t.jobs.isRunning(service.id))
    await ada.post(`${at}/cancel`)
    await asked
    expect(t.locks.isRollingOut(service)).toBe(true) // by the backup
    await until(() => !isBusy())
    expect(await states()).toEqual(['paused'])
    expect(await goOn()).toEqual({ status: 'running', states: ['running'] })
  },
)

const changed = `
services:
  one: { image: busybox, init: true, command: [sleep, "1234"], stop_grace_period: 1s, volumes: ["data:/data"] }
volumes: { data: {} }
`
