import { expect, test } from 'bun:test'
import { loadRestored } from '../../src/backups/server/load-restored.ts'
import { undoLoads } from '../../src/backups/restore/undo-loads.ts'
import { getBackup, setBackup } from '../../src/backups/store.ts'
import { noteToLoad } from '../../src/db/restored.ts'
import type { BackupEngine } from '../../src/services/compose/declaration.ts'
import { firstServer } from '../../src/platform/root.ts'
import { getService, updateService } from '../../src/services/store.ts'
import { sealBackedUp } from '../../src/services/stored-definition.ts'
import { restoring, workOf } from './restoring.ts'
import { away } from './simulated-restic.ts'
import { aDatabase, interrupt, interrupted } from './simulated-tools.ts'

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
  const { t, id, restic, service, runs, states, restore, restoreOf } = await aSharedVolume('redis')
  const { readVolumes } = restic.faults
  const began = restic.stall('readVolumes')
  await restore()
  await began
  await t.jobs.stop()
  expect(await states()).toEqual(['exited'])
  const [backup, into] = [getBackup(t.db, id)!, { kind: 'service', id: service.id } as const]
  const { signal } = new AbortController()
  expect(await undoLoads(t.deps, { backup, into, database: null, signal })).toBe(true)
  restic.faults.readVolumes = readVolumes!
  runs.length = 0
  const { job, task } = restoring(t, id)
  await task.run(workOf(job))
  await task.end({ status: 'done' }, signal)
  expect(runs).toEqual(['volumes', 'exited', 'load'])
  expect(restoreOf().status).toBe('succeeded')
  expect(await states()).toEqual(['running'])
})

type Scene = Awaited<ReturnType<typeof aDatabase>>

/** Each leaves the one server so that nothing can be asked of it. */
const downs: [string, (scene: Pick<Scene, 't'>, id: string) => unknown][] = [
  ['has ended', ({ t }, id) => t.docker.stopContainer(id)],
  [
    'is restarted again and again',
    ({ t: { engine } }, id) => {
      engine.container(id).restartCount = 9 // it waits for minutes
      engine.kill(id)
    },
  ],
]

async function serverOf({ t, service }: Pick<Scene, 't' | 'service'>) {
  const [one] = await t.docker.listContainers({ labels: [`davit.service=${service.id}`] })
  return one!.id
}

test.each(downs)(
  'a server that %s, as a restore that failed has left its files in part, is restored over in place',
  async (_, fail) => {
    const scene = await aSharedVolume('redis')
    const { t, restic, runs, states, restore, restoreOf } = scene
    const { readVolumes } = restic.faults
    restic.faults.readVolumes = () => Promise.reject(away())
    await restore()
    await t.jobs.idle()
    expect([restoreOf().status, restoreOf().replaced?.part]).toEqual(['failed', ['its volumes']])
    await fail(scene, await serverOf(scene))
    restic.faults.readVolumes = readVolumes!
    await restore()
    await t.jobs.idle()
    expect([restoreOf().status, runs]).toEqual(['succeeded', ['volumes', 'exited', 'load']])
    expect(await states()).toEqual(['running'])
  },
)

test.each(downs)(
  'a server that %s is refused where the backup has none of its files, or some that would be put over its data',
  async (_, fail) => {
    for (const volume of [undefined, 'data']) {
      const scene = await aDatabase('redis', ['one'], volume)
      await fail(scene, await serverOf(scene))
      await scene.ada.post(`/backups/${scene.id}/restore`, { backupFirst: false })
      await scene.t.jobs.idle()
      expect(scene.restoreOf().status).toBe('failed')
      expect([scene.runs, scene.restic.restored]).toEqual([[], []])
    }
  },
)

/** Lets the backup have what a new service is created from. */
const withDefinition = ({ t, id, service }: Scene) =>
  setBackup(t.db, id, { definition: sealBackedUp(t.deps, getService(t.db, service.id)!, id) })

/** Lets its server refuse the first connection. Returns how often it was asked. */
function notReadyYet({ t }: Pick<Scene, 't'>) {
  const { docker } = t.deps
  const execPiped = docker.execPiped.bind(docker)
  let asked = 0
  const refusing: typeof execPiped = async (id, options) => {
    const isAsked = options.stdout && options.env?.DAVIT_DATABASE === undefined
    if (!isAsked || asked++ > 0) return execPiped(id, options)
    return { exitCode: 1, oomKilled: false, stderr: 'connection refused' }
  }
  Object.assign(docker, { execPiped: refusing })
  return () => asked
}

test('a restore into what runs doesn’t wait for a server that isn’t ready', async () => {
  const scene = await aDatabase('redis')
  const { ada, t, id, runs, restoreOf } = scene
  const asked = notReadyYet(scene)
  await ada.post(`/backups/${id}/restore`, { backupFirst: false })
  await t.jobs.idle()
  expect([restoreOf().status, asked(), runs]).toEqual(['failed', 1, []])
})

test('a new service is waited for until its server is ready', async () => {
  const scene = await aDatabase('redis')
  const { ada, t, id, runs, restoreOf } = scene
  withDefinition(scene)
  notReadyYet(scene)
  const { status } = await ada.post(`/backups/${id}/restore`, { into: 'new' })
  await t.jobs.idle()
  expect([status, restoreOf().error, runs]).toEqual([201, null, ['load']])
})

test('so is what starts after a restore of the whole server', async () => {
  const scene = await aDatabase('redis')
  const { t, id, runs, restoreOf } = scene
  notReadyYet(scene)
  noteToLoad(t.db, id)
  loadRestored(t.deps, 'service')
  await t.jobs.idle()
  expect([restoreOf().error, runs]).toEqual([null, ['load']])
})

test('so is a server that started again with Davit, by the restore that its end interrupted', async () => {
  const scene = await interrupted('redis')
  const { runs, job, task } = scene
  notReadyYet(scene)
  await task.run(workOf(job))
  expect(runs).toEqual(['undo', 'load'])
})

test('a load that a second end of Davit may have ended is undone, though the first one left something stopped', async () => {
  const { t, id, runs } = await interrupted('redis')
  const ofApp = { id: 'app', name: 'app', serverId: firstServer, policy: { name: 'no' } } as const
  setBackup(t.db, id, { held: [{ ...ofApp, wasUp: true, by: 'stop' }] })
  const { job, task } = restoring(t, id)
  await task.run(workOf(job))
  expect(runs).toEqual(['undo', 'load'])
})

test('while a server is held for its volumes, nothing is undone in another one that runs beside it', async () => {
  const scene = await interrupted('redis')
  const { t, id, runs } = scene
  const held = (await t.docker.inspectContainer(await serverOf(scene)))!
  const { options } = t.engine.container(held.id)
  await t.docker.stopContainer(held.id)
  await t.docker.startContainer(await t.docker.createContainer({ ...options, name: 'beside' }))
  const { serverId, name, restartPolicy: policy } = held
  setBackup(t.db, id, { held: [{ id: held.id, serverId, name, policy, wasUp: true, by: 'stop' }] })
  const { signal } = new AbortController()
  const into = { kind: 'service', id: scene.service.id } as const
  await undoLoads(t.deps, { backup: getBackup(t.db, id)!, into, database: null, signal })
  expect(runs).toEqual([])
})

test('a new service whose programs aren’t well without their data is restored all the same after an end of Davit', async () => {
  const scene = await aDatabase('redis')
  withDefinition(scene)
  const { t, runs, restoreOf, job, task } = await interrupt(scene, { into: 'new' })
  const { id } = getService(t.db, restoreOf().into!.id)!
  updateService(t.db, id, { status: 'unhealthy' })
  await task.run(workOf(job))
  await task.end({ status: 'done' }, new AbortController().signal)
  expect([restoreOf().status, runs]).toEqual(['succeeded', ['undo', 'load']])
  expect(getService(t.db, id)?.deletingAt).toBeNull()
})
