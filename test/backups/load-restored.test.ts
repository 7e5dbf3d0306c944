import { expect, test } from 'bun:test'
import { loadRestored } from '../../src/backups/server/load-restored.ts'
import { insertBackup } from '../../src/backups/store.ts'
import { newId } from '../../src/db/new-id.ts'
import {
  forgetRestored,
  listRestored,
  listToLoad,
  noteToLoad,
  noteWhatRan,
} from '../../src/db/restored.ts'
import { reconcileAfterRestore } from '../../src/deployments/reconcile-after-restore.ts'
import { readLabels } from '../../src/docker/labels.ts'
import { getJobOf, hasJob } from '../../src/jobs/store.ts'
import { insertLink } from '../../src/links/store.ts'
import { insertServiceJob } from '../../src/services/service-jobs.ts'
import { getService } from '../../src/services/store.ts'
import { anApp, aProject, finished, logOf } from '../deployments/apps.ts'
import { idle, settled } from '../services/instances.ts'
import { until } from '../support/until.ts'
import { unreachable } from './simulated-restic.ts'
import { aService } from './scene.ts'

type Scene = Awaited<ReturnType<typeof aService>>

const twofold = `
services:
  one: { ${idle}, volumes: ["data:/data"] }
  two: { ${idle} }
volumes: { data: {} }
`

/** A service of two programs, and a backup of it. */
async function twoPrograms() {
  const scene = await aService()
  const { ada, t, service } = scene
  const { status, text } = await ada.put(`/services/${service.id}`, { compose: twofold })
  if (status !== 200) throw new Error(text)
  await settled(t, ada, service)
  return { ...scene, backup: await scene.backUp() }
}

/** Loads what the restore of the whole server has noted, and names the containers that were stopped meanwhile. */
async function load({ t }: Scene, kind: 'service' | 'environment', { id }: { id: string }) {
  const stopped: string[] = []
  t.faults.stopContainer = async (id, ...more) => {
    stopped.push(id)
    return t.docker.stopContainer(id, ...more)
  }
  noteToLoad(t.db, id)
  loadRestored(t.deps, kind)
  await t.jobs.idle()
  delete t.faults.stopContainer
  return stopped.sort()
}

const runningOf = async ({ t }: Scene, label: string) =>
  (await t.docker.listContainers({ labels: [label] })).map(({ id }) => id).sort()

test('a backup whose databases are yet to be loaded after a restore of the server is neither restored elsewhere nor deleted', async () => {
  const s = await aService()
  const { id } = await s.backUp()
  noteToLoad(s.t.db, id)
  const begin = async (body: { into?: string }) =>
    (await s.ada.post(`/backups/${id}/restore`, body)).status
  expect([await begin({ into: 'new' }), await begin({})]).toEqual([409, 409])
  expect((await s.ada.delete(`/backups/${id}`)).status).toBe(409)
  loadRestored(s.t.deps, 'service')
  await s.t.jobs.idle()
  expect((await s.ada.get(`/backups/${id}`)).json.restore.status).toBe('succeeded')
  expect(await begin({ into: 'new' })).toBe(201)
  await s.t.jobs.idle()
})

test('programs of a service that began with empty databases restart once these are loaded, and only then', async () => {
  const scene = await twoPrograms()
  const { ada, backup, service, restic } = scene
  const running = await runningOf(scene, `davit.service=${service.id}`)
  expect(running).toHaveLength(2)
  expect(await load(scene, 'service', backup)).toEqual(running)
  expect((await ada.get(`/services/${service.id}`)).json).toMatchObject({ status: 'running' })
  restic.faults.list = unreachable
  expect(await load(scene, 'service', backup)).toEqual([])
})

const processes = [{ name: 'web' }, { name: 'worker', command: ['sleep', '9999'] }]

test('so do those of an environment', async () => {
  const scene = await aService()
  const { ada, t, targetId } = scene
  const project = await aProject(t, ada, anApp('here'), { processes })
  await project.deploy()
  await t.jobs.idle()
  const { environmentId: subjectId } = project
  const backup = insertBackup(t.db, {
    ...{ id: newId(), ownerId: ada.user.id, subjectKind: 'environment', subjectId, targetId },
    ...{ subjectName: 'here', startedBy: 'plan', hold: 'pause', status: 'succeeded' },
  })
  const running = await runningOf(scene, `davit.environment=${subjectId}`)
  expect(running).toHaveLength(2)
  expect(await load(scene, 'environment', backup)).toEqual(running)
  expect(await runningOf(scene, `davit.environment=${subjectId}`)).toEqual(running)
})

test('restored apps are looked for once such a restart has ended', async () => {
  const scene = await twoPrograms()
  const { ada, t, service } = scene
  const project = await aProject(t, ada, anApp('here'))
  await project.deploy()
  await t.jobs.idle()
  noteWhatRan(t.db)
  for (const { id } of listRestored(t.db, 'service')) forgetRestored(t.db, id)
  insertServiceJob(t.deps, getService(t.db, service.id)!, 'restart')
  const { signal } = new AbortController()
  let isRestarting: boolean | undefined
  const engines = Object.create(t.deps.engines, {
    reachable: {
      value(look: never) {
        isRestarting = hasJob(t.db, service.id)
        return t.deps.engines.reachable(look)
      },
    },
  })
  const found = reconcileAfterRestore({ ...t.deps, engines }, { signal })
  t.jobs.wake()
  await found
  expect(isRestarting).toBe(false)
})

test('what is deployed meanwhile starts once the databases of its services are loaded, and these have restarted', async () => {
  const scene = await twoPrograms()
  const { ada, t, service, backup } = scene
  const project = await aProject(t, ada, anApp('here'))
  insertLink(t.db, { environmentId: project.environmentId, serviceId: service.id, variables: {} })
  noteToLoad(t.db, backup.id)
  const starts: unknown[] = []
  t.faults.createContainer = async (options) => {
    if (readLabels(options.labels ?? {}).environmentId)
      starts.push([listToLoad(t.db).length, hasJob(t.db, service.id)])
    return t.docker.createContainer(options)
  }
  const awaited: string[] = []
  const ended = t.jobs.ended.bind(t.jobs)
  t.jobs.ended = (id) => {
    awaited.push(id)
    return ended(id)
  }
  t.faults.stopContainer = async (id, ...more) => {
    const restart = getJobOf(t.db, service.id)!
    await until(() => starts.length > 0 || awaited.includes(restart.id))
    return t.docker.stopContainer(id, ...more)
  }
  const queued = await project.trigger()
  const isWaiting = async () =>
    (await logOf(ada, queued)).some((line) => line.includes('databases of'))
  await until(async () => starts.length > 0 || (await isWaiting()))
  loadRestored(t.deps, 'service')
  expect(await finished(ada, queued)).toMatchObject({ status: 'running' })
  expect(starts).toEqual([[0, false]])
})
