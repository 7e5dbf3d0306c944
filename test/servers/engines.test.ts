import { expect, onTestFinished, test } from 'bun:test'
import type { Failure } from '../../src/platform/errors.ts'
import { firstServer } from '../../src/platform/root.ts'
import { apps } from '../../src/deployments/observe.ts'
import { listDifferent } from '../../src/runtime/reconcile.ts'
import { listLiveInstances, updateInstance } from '../../src/runtime/store.ts'
import { resume } from '../../src/serve.ts'
import {
  getServer,
  insertServer,
  listServers,
  listUsers,
  updateServer,
} from '../../src/servers/store.ts'
import { simulatedApp } from '../support/app.ts'
import { storeServers } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aComponent, aWorkload } from '../runtime/workload.ts'
import { anotherServer } from './cable.ts'

const serverId = '00000000-0000-7000-8000-000000000002'

const signal = new AbortController().signal

const facts = { nodeId: 'n', engine: '0', cpus: 2, memoryMb: 2048 }

function aServer(t: Pick<ReturnType<typeof simulatedApp>, 'deps'>) {
  const stop = new AbortController()
  const background = resume(t.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
}

test('an engine that is added is watched, one that is removed no longer', async () => {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  aServer(t)
  const other = anotherServer()
  insertServer(t.db, { id: serverId, name: 'two', address: '10.0.0.2', ...facts })
  t.engines.add(other.docker)
  expect(t.engines.isAway({ serverId })).toBe(true)
  await until(() => !t.engines.isAway({ serverId }))
  const limits = { memoryBytes: 32 * 2 ** 20, cpus: 1, pidsLimit: 64 }
  const of = { image: 'busybox', command: ['sleep', '99'], network: 'none', ...limits }
  const id = await other.docker.createContainer({ ...of, name: 'theirs' })
  expect((await root.get('/containers')).json.items).toMatchObject([{ id, serverId }])

  t.engines.remove({ serverId })
  await until(() => other.engine.listeners.size === 0)
  expect((await root.get('/containers')).json.items).toEqual([])
  expect(() => t.engines.of({ serverId })).toThrow('isn’t one of Davit’s')
})

test('a server without power is away at once, is not asked, and is ready when it is back', async () => {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  aServer(t)
  const other = anotherServer()
  const row = { id: serverId, name: 'two', address: '10.0.0.2', lastSeenAt: new Date(0) }
  insertServer(t.db, { ...row, ...facts })
  t.engines.add(other.docker)
  await until(() => getServer(t.db, serverId)!.state === 'ready')
  await until(() => getServer(t.db, serverId)!.engine !== facts.engine)

  other.pull()
  await until(() => getServer(t.db, serverId)!.state === 'away')
  const { calls } = other.cable
  expect((await root.get('/containers')).json.items).toEqual([])
  expect(other.cable.calls).toBe(calls)
  expect(() => t.engines.of({ serverId })).toThrow('can’t be reached')

  updateServer(t.db, serverId, { isDraining: true })
  other.cable.isPulled = false
  await until(() => getServer(t.db, serverId)!.state === 'draining')
})

test('at a server that is away from the start nothing but its events is tried', async () => {
  const t = simulatedApp()
  const other = anotherServer()
  insertServer(t.db, { id: serverId, name: 'two', address: '10.0.0.2', ...facts })
  other.cable.isPulled = true
  t.engines.add(other.docker)
  aServer(t)
  await until(() => other.cable.logins === 2)
  expect(other.cable.calls).toBe(0)
  other.cable.isPulled = false
  await until(() => other.cable.calls > 0)
})

test('what begins right after the start waits until its server was reached or found away', async () => {
  for (const isPulled of [false, true]) {
    const s = await aWorkload({ isSimulated: true })
    storeServers(s.db, [{}, {}])
    const other = anotherServer()
    other.cable.isPulled = isPulled
    s.engines.add(other.docker)
    const workload = { ...s.workload, placement: { server: serverId } }
    const placed = s.deps.runtime.place(workload, [aComponent('one', {})])
    const outcome = placed.catch(({ code }: Failure) => code)
    aServer(s)
    expect(await outcome).toEqual(isPulled ? 'no_server' : [serverId])
  }
})

test('a server whose key can’t be read any more stays away, and Davit starts', () => {
  const before = simulatedApp()
  const login = { ssh: 'ssh://davit@10.0.0.2:22', hostKey: 'AAAA', privateKey: 'broken' }
  insertServer(before.db, { id: firstServer, name: 'one', address: '10.0.0.1', ...facts })
  insertServer(before.db, { id: serverId, name: 'two', address: '10.0.0.2', ...facts, ...login })
  const t = simulatedApp({}, { db: before.db })
  expect(listServers(t.db)).toMatchObject([{ name: 'one' }, { name: 'two' }])
  expect(t.engines.all).toHaveLength(1)
  expect(() => t.engines.of({ serverId })).toThrow('can’t be reached')
})

test('what runs on a server whose key can’t be read any more stays as it was', async () => {
  const s = await aWorkload({ isSimulated: true })
  insertServer(s.db, { id: firstServer, name: 'one', address: '10.0.0.1', ...facts })
  const login = { ssh: 'ssh://davit@10.0.0.2:22', hostKey: 'AAAA', privateKey: 'broken' }
  const row = { id: serverId, name: 'two', address: '10.0.0.2', ...facts, ...login }
  s.deps.serverEngines.open(insertServer(s.db, row))
  expect(getServer(s.db, serverId)!.state).toBe('away')
  await s.roll('one')
  const [live] = listLiveInstances(s.db, s.workload.id)
  await s.docker.removeContainer(live!.containerId!, { force: true })
  updateInstance(s.db, live!.id, { serverId, containerId: 'there' })

  expect((await s.engines.reachable(async () => [])).away).toEqual(new Set([serverId]))
  expect(await listDifferent(s.deps, 'app', { signal })).toEqual(new Set())
  await apps.observe(s.deps, s.workload.id, { orphans: false, signal })
  expect(listLiveInstances(s.db, s.workload.id)).toMatchObject([{ containerId: 'there' }])
})

test('a server is watched on when it can’t be stored that it is away', async () => {
  const t = simulatedApp()
  aServer(t)
  const other = anotherServer()
  insertServer(t.db, { id: serverId, name: 'two', address: '10.0.0.2', ...facts })
  t.engines.add(other.docker)
  await until(() => other.engine.listeners.size > 0 && !t.engines.isAway({ serverId }))
  t.db.$client.run(
    "CREATE TEMP TRIGGER full BEFORE UPDATE ON servers BEGIN SELECT RAISE(FAIL, 'the disk is full'); END",
  )
  other.pull()
  await until(() => t.engines.isAway({ serverId }))
  expect(getServer(t.db, serverId)!.state).toBe('ready')
  t.db.$client.run('DROP TRIGGER full')
  await until(() => getServer(t.db, serverId)!.state === 'away')
  other.cable.isPulled = false
  await until(() => getServer(t.db, serverId)!.state === 'ready')
})

test('a server that an app is placed on isn’t removed, also before a deployment', async () => {
  const t = simulatedApp()
  const root = t.logInAsAdmin()
  storeServers(t.db, [{}, {}])
  const repositoryUrl = 'https://git.example.com/team/site.git'
  const project = (await root.post('/projects', { name: 'site', repositoryUrl })).json
  const [env] = (await root.get(`/projects/${project.id}/envs`)).json.items
  const processes = [{ name: 'worker', command: ['sleep', '99'] }] // with a port it needs the edge
  const place = (placement: object | null) =>
    root.put(`/projects/${project.id}/envs/${env.id}`, { processes, placement })
  expect((await place({ server: 'server2' })).status).toBe(200)
  const refused = await root.delete(`/settings/servers/${serverId}`)
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('site')])
  expect(listUsers(t.db, serverId)).toHaveLength(1)
  expect((await place(null)).status).toBe(200)
  expect(listUsers(t.db, serverId)).toEqual([])
})
