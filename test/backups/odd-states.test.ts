import { expect, test } from 'bun:test'
import { releaseAll } from '../../src/backups/hold.ts'
import { setBackup } from '../../src/backups/store.ts'
import { newId } from '../../src/db/new-id.ts'
import { insertDeployment } from '../../src/deployments/store.ts'
import { sealComponents } from '../../src/runtime/component.ts'
import { insertRelease, makeLive } from '../../src/runtime/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { atOnce, realClock } from '../interleavings/engine/at-once.ts'
import { fakeDocker } from '../interleavings/engine/docker.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import { aComponent } from '../runtime/workload.ts'
import { idle, settled } from '../services/instances.ts'
import { aService, withVolume } from './scene.ts'

test('a container that has exited blocks neither a backup nor a restore, and stays so', async () => {
  const s = await aService()
  // what looks for SQLite databases finds none
  const runPiped = async () => ({ exitCode: 0, oomKilled: false, stderr: '' })
  Object.assign(s.t.deps.docker, { runPiped })
  const twofold = `services: { one: { ${idle}, volumes: ["data:/data"] }, two: { ${idle}, volumes: ["data:/data"] } }\nvolumes: { data: {} }`
  expect((await s.ada.put(`/services/${s.service.id}`, { compose: twofold })).status).toBe(200)
  await settled(s.t, s.ada, s.service)
  const labels = [`davit.service=${s.service.id}`]
  const [first] = await s.t.docker.listContainers({ labels })
  await s.t.docker.setRestartPolicy(first!.id, { name: 'no' })
  await s.t.docker.stopContainer(first!.id)
  const now = async () => (await s.states()).sort()
  expect(await now()).toEqual(['exited', 'running'])
  for (const hold of ['pause', 'stop', 'none']) {
    expect(await s.backUp({ hold })).toMatchObject({ status: 'succeeded', error: null })
    expect(await now()).toEqual(['exited', 'running'])
  }
  const { id } = await s.backUp()
  expect(await s.restore(id)).toMatchObject({ status: 'succeeded', error: null })
  expect(await now()).toEqual(['exited', 'running'])
  // nor when none runs any more
  await s.ada.post(`/services/${s.service.id}/stop`, {})
  await s.t.jobs.idle()
  expect(await s.restore(id)).toMatchObject({ status: 'succeeded', error: null })
  expect(await s.states()).not.toContain('running')
})

test('a container that Docker keeps restarting is stopped for a backup, as it can’t be paused', async () => {
  const s = await aService()
  const [one] = await s.t.docker.listContainers({ labels: [`davit.service=${s.service.id}`] })
  const { restartPolicy } = (await s.t.docker.inspectContainer(one!.id))!
  const container = s.t.engine.container(one!.id)
  container.restartCount = 9 // it waits for minutes
  s.t.engine.kill(one!.id)
  expect(await s.states()).toEqual(['restarting'])
  const during: string[][] = []
  s.restic.faults.storeVolumes = async (options) => {
    during.push(await s.states())
    return s.restic.usual.storeVolumes(options)
  }
  expect(await s.backUp()).toMatchObject({ status: 'succeeded', error: null })
  expect(await s.states()).toEqual(['running'])

  // it crashes between the look and the pause, or ends for good
  s.t.faults.pauseContainer = async (id, options) => {
    container.restartCount = 9
    s.t.engine.kill(id)
    return s.t.docker.pauseContainer(id, options)
  }
  expect(await s.backUp()).toMatchObject({ status: 'succeeded', error: null })
  expect((await s.t.docker.inspectContainer(one!.id))!.restartPolicy).toEqual(restartPolicy)
  await s.t.docker.setRestartPolicy(one!.id, { name: 'no' })
  expect(await s.backUp()).toMatchObject({ status: 'succeeded', error: null })
  expect(await s.states()).toEqual(['exited'])
  expect(during).toEqual([['exited'], ['exited'], ['exited']])
})

test('what can’t be resumed, as its server is gone, keeps nothing else paused', async () => {
  const s = await aService()
  const { id } = await s.backUp()
  const [one] = await s.t.docker.listContainers({ labels: [`davit.service=${s.service.id}`] })
  await s.t.docker.pauseContainer(one!.id)
  const held = { ...one!, by: 'pause', policy: { name: 'no' }, wasUp: true } as const
  setBackup(s.db, id, { held: [{ ...held, id: 'elsewhere', serverId: newId() }, held] })
  await releaseAll(s.t.deps, { signal: new AbortController().signal })
  expect(await s.states()).toEqual(['running'])
  expect((await s.ada.get(`/backups/${id}`)).json).toMatchObject({ status: 'succeeded' })
})

test('a volume that an update renamed is backed up, and restored only beside one that is used', async () => {
  const s = await aService()
  const before = await s.backUp()
  const renamed = withVolume.replaceAll('data:/data', 'store:/data').replace('{ data:', '{ store:')
  expect((await s.ada.put(`/services/${s.service.id}`, { compose: renamed })).status).toBe(200)
  await settled(s.t, s.ada, s.service)
  const { files, id } = await s.backUp()
  expect(files).toMatchObject([{ volumes: ['data', 'store'] }])
  // its files would go where nothing reads them
  const refused = await s.restore(before.id, { backupFirst: false })
  expect([refused.status, s.restic.restored]).toEqual(['failed', []])
  expect(refused.error).toContain('data')
  expect(await s.restore(id, { backupFirst: false })).toMatchObject({ status: 'succeeded' })
  expect(s.restic.restored).toEqual([files[0].snapshot])
})

test('a backup of an environment is restored into another one of its project, and nowhere else', async () => {
  const s = await aService()
  const { ada, t, db, restic, targetId } = s
  /** A project whose environment runs with a volume. */
  const aProject = async (name: string) => {
    const repositoryUrl = 'https://git.example.com/team/site.git'
    const { json: project } = await ada.post('/projects', { name, repositoryUrl })
    return project as { id: string }
  }
  const anEnvironment = async (projectId: string, name: string, volume: string | null) => {
    const { json, text } = await ada.post(`/projects/${projectId}/envs`, { name })
    if (!json?.id) throw new Error(text)
    const { id } = json as { id: string }
    const deployment = insertDeployment(db, {
      ...{ id: newId(), projectId, environmentId: id, status: 'running', trigger: 'manual' },
      ...{
        triggeredBy: 'ada@example.com',
        repositoryUrl: '',
        image: 'busybox',
        finishedAt: new Date(),
      },
    })
    const named = volume ? { volume: `davit-${id}-${volume}` } : {}
    const components = sealComponents(t.deps.secrets, deployment.id, [aComponent('v1', named)])
    const workload = { id, kind: 'app' } as const
    insertRelease(db, { workload, id: deployment.id, components, slots: [] })
    makeLive(db, { workloadId: id, releaseId: deployment.id, states: new Map() })
    const labels = { 'davit.instance': t.deps.instanceId, 'davit.environment': id }
    if (volume) await t.docker.createVolume({ name: `davit-${id}-${volume}`, labels })
    return id
  }
  const { id: projectId } = await aProject('site')
  const production = await anEnvironment(projectId, 'live', 'data')
  const staging = await anEnvironment(projectId, 'staging', 'data')
  const bare = await anEnvironment(projectId, 'bare', null)
  const { id: other } = await aProject('other')
  const foreign = await anEnvironment(other, 'foreign', 'data')
  const { json } = await ada.post(`/envs/${production}/backups`, { targetId })
  await t.jobs.idle()
  const { json: backup } = await ada.get(`/backups/${json.id}`)
  expect(backup).toMatchObject({ status: 'succeeded', error: null })

  const preview = (await ada.get(`/backups/${json.id}/restore`)).json
  const offered = preview.environments.map(({ id }: { id: string }) => id)
  expect(offered).toEqual(expect.arrayContaining([staging, bare]))
  expect(offered).not.toContain(foreign)
  const refused = await ada.post(`/backups/${json.id}/restore`, { environmentId: foreign })
  expect([refused.status, refused.json.errors[0].field]).toEqual([422, 'environmentId'])

  let into: string[] = []
  restic.faults.readVolumes = async (options) => {
    into = options.volumes.map(({ volume }) => volume)
    await restic.usual.readVolumes(options)
  }
  const done = await s.restore(json.id, { environmentId: staging })
  expect(done).toMatchObject({ status: 'succeeded', error: null, into: { id: staging } })
  expect([into, restic.restored]).toEqual([[`davit-${staging}-data`], [backup.files[0].snapshot]])
  // what was there before is a backup of that environment
  const { json: saved } = await ada.get(`/backups/${done.before}`)
  expect(saved.subject.id).toBe(staging)
  // one that has no such volume stays as it is
  const lacking = await s.restore(json.id, { environmentId: bare, backupFirst: false })
  expect([lacking.status, restic.restored.length]).toEqual(['failed', 1])
  expect(lacking.error).not.toContain('new service') // no backup of an environment is restored into one
  // nor is it another person's
  const bob = t.logIn('bob@example.com')
  const theirs = await bob.post(`/backups/${json.id}/restore`, { environmentId: staging })
  expect(theirs.status).toBe(404)
})

test('while another server is away, what runs here is backed up and restored', async () => {
  const engine = Object.assign(new FakeEngine(realClock), { serverId: newId() })
  const other = fakeDocker(engine, atOnce)
  const scene = await aService({ otherEngines: [other] })
  const away = () => Promise.reject(new Failure('engine_unreachable', 'It has no power.', 'Wait.'))
  for (const [name, call] of Object.entries(other))
    if (typeof call === 'function') Object.assign(other, { [name]: away })
  const { id, status, files } = await scene.backUp()
  expect({ status, files }).toMatchObject({ status: 'succeeded', files: [{ volumes: ['data'] }] })
  expect(await scene.restore(id)).toMatchObject({ status: 'succeeded', error: null })
  expect(await scene.states()).toEqual(['running'])
})
