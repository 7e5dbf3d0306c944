import { expect, onTestFinished, test } from 'bun:test'
import { insertDeployment } from '../../src/deployments/store.ts'
import { apps } from '../../src/deployments/observe.ts'
import { listDifferent } from '../../src/runtime/reconcile.ts'
import { removeEverywhere } from '../../src/runtime/images/remove.ts'
import { removeFromEngine } from '../../src/runtime/remove.ts'
import { restartLive, stopLive } from '../../src/runtime/restart.ts'
import { Failure } from '../../src/platform/errors.ts'
import { insertOnce, listOnce } from '../../src/runtime/once-store.ts'
import { listInstances, listLiveInstances } from '../../src/runtime/store.ts'
import type { Instance } from '../../src/runtime/store.ts'
import { resume } from '../../src/serve.ts'
import { simulatedApp } from '../support/app.ts'
import { otherEngine } from '../support/other-engine.ts'
import { until } from '../support/until.ts'
import { aComponent, aWorkload } from './workload.ts'

const serverId = '00000000-0000-7000-8000-000000000002'

/** The engine of another server, whose containers have ids of their own. */
function anotherServer() {
  const other = otherEngine()
  other.engine.addImage({ tags: ['busybox:latest'], command: ['sleep', '99'] })
  return other
}

type Other = ReturnType<typeof anotherServer>

/** An environment whose containers come to run on another server, over networks that span both. */
async function aWorkloadElsewhere() {
  const other = anotherServer()
  const { docker, engine } = other
  const s = await aWorkload({ isSimulated: true, otherEngines: [docker] })
  const { place } = s.runtime
  s.runtime.place = async (_, components) => components.map(() => serverId)
  for (const [id, network] of engine.networks) s.engine.networks.set(id, network)
  Object.assign(engine, { networks: s.engine.networks })
  const comeBack = () => Object.assign(s.runtime, { place })
  return { ...s, other, comeBack }
}

const signal = new AbortController().signal
const statesOf = ({ engine }: Other) =>
  engine.containers
    .values()
    .map(({ state }) => state)
    .toArray()

test('a release comes, restarts, stops and goes at the engine of its server', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  const { workload, db } = s
  await s.roll('first', { volume: 'data' })
  const [first] = listLiveInstances(db, workload.id)
  expect(first).toMatchObject({ serverId, state: 'live' })
  expect([...other.engine.containers.keys()]).toEqual([first!.containerId!])
  expect([...other.engine.volumes.keys()]).toEqual([`${workload.id}-data`])

  const components = [aComponent('second', { replicas: 2 })]
  await s.roll('second', { components })
  expect(statesOf(other)).toEqual(['running', 'running'])

  const live = { workload, components, signal }
  expect(await restartLive(s.deps, { ...live, stops: true })).toBe(true)
  await stopLive(s.deps, { workload, signal })
  expect(statesOf(other)).toEqual(['exited', 'exited'])
  expect(await restartLive(s.deps, { ...live, stops: false })).toBe(true)
  expect(statesOf(other)).toEqual(['running', 'running'])

  const of = { kind: 'app', environmentId: workload.id, volumes: true } as const
  await removeFromEngine(s.deps, of)
  expect([other.engine.containers.size, other.engine.volumes.size]).toEqual([0, 0])
  expect(s.engine.containers.size).toBe(0)
})

test('what happens at another server’s engine is observed there', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  await s.roll('first')
  const [instance] = listLiveInstances(s.db, s.workload.id)
  await other.docker.stopContainer(instance!.containerId!)
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  expect(listInstances(s.db, s.workload.id)).toMatchObject([{ state: 'stopped' }])

  // a deployment of which only a container is left
  insertDeployment(s.db, {
    ...{ id: 'first', projectId: s.workload.projectId, environmentId: s.workload.id },
    ...{ status: 'stopped', trigger: 'manual', triggeredBy: 'ada', repositoryUrl: '' },
  })
  const orphan = { ...other.engine.container(instance!.containerId!).options, name: 'left' }
  await other.docker.createContainer(orphan)
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  expect([...other.engine.containers.keys()]).toEqual([instance!.containerId!])
})

test('events of another server’s engine reach what watches apps', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  await s.roll('first')
  const stop = new AbortController()
  const background = resume(s.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  await until(() => other.engine.listeners.size > 0)
  await other.docker.stopContainer([...other.engine.containers.keys()][0]!)
  await until(() => listInstances(s.db, s.workload.id)[0]!.state === 'stopped')
})

test('a container of another server is listed, inspected, read and stopped at its own engine', async () => {
  const other = anotherServer()
  const t = simulatedApp({}, { otherEngines: [other.docker] })
  const root = t.logInAsAdmin()
  const options = { image: 'busybox', command: ['sleep', '99'], network: 'none' }
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  other.engine.networks.set('none', { id: 'none', name: 'none', subnet: '10.0.0.0/24', labels: {} })
  const id = await other.docker.createContainer({ ...options, ...limits, name: 'theirs' })
  await other.docker.startContainer(id)

  const { items } = (await root.get('/containers')).json
  expect(items).toMatchObject([{ id, serverId, name: 'theirs' }])
  expect((await root.get(`/containers/${id}`)).json).toMatchObject({ serverId, state: 'running' })
  const lines = (await root.get(`/containers/${id}/logs?limit=10`)).json.items
  expect(lines).toMatchObject([{ text: 'Here I am' }])
  const stopped = await root.post(`/containers/${id}/stop`)
  expect(stopped.json).toMatchObject({ serverId, state: 'exited' })
  expect(statesOf(other)).toEqual(['exited'])
})

test('what is on a server that isn’t there any more says so', async () => {
  const { engines } = simulatedApp()
  expect(() => engines.of({ serverId })).toThrow('isn’t one of Davit’s any more')
})

test('a server that comes back during a deployment is there for it, and one that goes is away', async () => {
  const other = anotherServer()
  const { engines } = simulatedApp({}, { otherEngines: [other.docker] })
  engines.setAway({ serverId }, true)
  const wrapped = engines.around((docker) => docker)
  expect(() => wrapped.of({ serverId })).toThrow('can’t be reached')
  engines.setAway({ serverId }, false)
  expect(wrapped.of({ serverId })).toBe(engines.of({ serverId }))
  engines.setAway({ serverId }, true)
  expect(wrapped.isAway({ serverId })).toBe(true)
})

/** From then on the other server doesn't respond; returns what ends that. */
function cutOff({ docker }: Other) {
  const before = { ...docker }
  const away = () => Promise.reject(new Failure('engine_unreachable', 'It has no power.', 'Wait.'))
  for (const [name, call] of Object.entries(docker))
    if (typeof call === 'function') Object.assign(docker, { [name]: away })
  return () => Object.assign(docker, before)
}

test('while a server is away, the others’ containers are observed, and its own stay as they were', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  await s.roll('there')
  const [there] = listLiveInstances(s.db, s.workload.id)
  const mend = cutOff(other)
  const root = s.logInAsAdmin()
  expect((await root.get('/containers')).json.items).toEqual([])

  expect(await listDifferent(s.deps, 'app', { signal })).toEqual(new Set())
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  expect(listLiveInstances(s.db, s.workload.id)).toEqual([there!])

  // the next deployment goes elsewhere, and what it replaced is removed once its server is back
  s.comeBack()
  await s.roll('here')
  expect(listLiveInstances(s.db, s.workload.id)).toMatchObject([{ releaseId: 'here' }])
  expect(statesOf(other)).toEqual(['running'])
  mend()
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  expect(other.engine.containers.size).toBe(0)
})

test('each deployment away from a dead server works, and what is left there goes once it is back', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  await s.roll('there')
  const [{ releaseId }] = listLiveInstances(s.db, s.workload.id) as [Instance]
  const left = { workloadId: s.workload.id, component: 'web', serverId }
  const once = insertOnce(s.db, { ...left, id: 'once', releaseId, workload: s.workload })
  const mend = cutOff(other)
  s.deps.engines.setAway({ serverId }, true)
  s.comeBack()
  for (const version of ['here', 'again']) {
    await s.roll(version)
    await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
    expect(listLiveInstances(s.db, s.workload.id)).toMatchObject([{ releaseId: version }])
  }
  expect(s.engine.containers.size).toBe(1)
  expect([statesOf(other), listOnce(s.db, s.workload.id)]).toEqual([['running'], [once]])

  mend()
  s.deps.engines.setAway({ serverId }, false)
  expect(await listDifferent(s.deps, 'app', { signal })).toEqual(new Set([s.workload.id]))
  await apps.observe(s.deps, s.workload.id, { orphans: true, signal })
  expect([other.engine.containers.size, listOnce(s.db, s.workload.id)]).toEqual([0, []])
})

test('what isn’t on a server that is away can be deleted; what is on it can’t', async () => {
  const { other, ...s } = await aWorkloadElsewhere()
  await s.roll('there')
  const { ada } = s
  const empty = { name: 'empty', repositoryUrl: 'https://git.example.com/empty.git' }
  const { json: project } = await ada.post('/projects', empty)
  cutOff(other)
  s.engines.setAway({ serverId }, true)
  const deleted = (id: string) => ada.delete(`/projects/${id}`)
  expect((await ada.get(`/projects/${project.id}/delete`)).status).toBe(200)
  expect(await deleted(project.id)).toMatchObject({ status: 200 })
  const { projectId } = s.workload
  expect(await deleted(projectId)).toMatchObject({ status: 503 })
  expect((await ada.get(`/projects/${projectId}`)).json.deletingAt ?? null).toBeNull()
})

test('an image goes from each server, unless one of them uses it', async () => {
  const other = anotherServer()
  const t = simulatedApp({}, { otherEngines: [other.docker] })
  const name = 'davit/site:one'
  for (const engine of [t.engine, other.engine])
    engine.addImage({ tags: [name], command: ['sleep', '99'] })
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  other.engine.networks.set('none', { id: 'none', name: 'none', subnet: '10.0.0.0/24', labels: {} })
  const options = { ...limits, image: name, network: 'none', name: 'kept' }
  const id = await other.docker.createContainer(options)
  await expect(removeEverywhere(t.engines, name)).rejects.toMatchObject({ status: 409 })
  expect(t.engine.image(name)).toBeDefined()
  await other.docker.removeContainer(id)
  expect(await removeEverywhere(t.engines, name)).toBe(true)
  expect([t.engine.image(name), other.engine.image(name)]).toEqual([undefined, undefined])
})
