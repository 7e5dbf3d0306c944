import { expect, onTestFinished, test } from 'bun:test'
import { workloads } from '../../src/db/schema.ts'
import { labelsFor } from '../../src/docker/labels.ts'
import {
  insertInstance,
  listInstances,
  updateInstance,
  workloadRow,
} from '../../src/runtime/store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { firstServer } from '../../src/platform/root.ts'
import { resume } from '../../src/serve.ts'
import { insertServer, listServers } from '../../src/servers/store.ts'
import { until } from '../support/until.ts'
import { twoMachines } from './machines.ts'

const nothingChanged = ({ t, own, other }: ReturnType<typeof twoMachines>) => {
  expect(listServers(t.db)).toEqual([])
  expect([own.state.isMember, other.state.isMember]).toEqual([false, false])
  expect(t.engines.all).toHaveLength(1)
}

test('with one server the list is empty, and nothing can join without an address', async () => {
  const s = twoMachines({ address: '' })
  expect((await s.root.get('/settings/servers')).json.items).toEqual([])
  expect((await s.root.page('/settings/servers')).text).toContain('DAVIT_CLUSTER_ADDRESS')
  expect(await s.add()).toMatchObject({ status: 409 })
  expect(s.asked).toEqual([])
  nothingChanged(s)
})

test('a server joins, is shown with Davit’s own, and leaves; the swarm ends with the last one', async () => {
  const s = twoMachines()
  const { t, root, own, other } = s
  const added = await s.add({ sshPort: 2222, labels: { zone: 'east' } })
  expect(added.status).toBe(201)
  const expected = {
    name: 'two',
    address: '10.0.0.2',
    engine: '28.5.2',
    cpus: 2,
    roles: ['apps'],
    labels: { zone: 'east' },
  }
  expect(added.json).toMatchObject({ ...expected, state: 'away', instances: 0 })
  const login = { privateKey: 'a secret key', hostKey: 'AAAA' }
  expect(s.asked[0]).toEqual({ host: 'ssh://davit@10.0.0.2:2222', serverId: added.json.id, login })
  const stop = new AbortController()
  const background = resume(t.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  await until(() => listServers(t.db)[1]!.state === 'ready')

  const { items } = (await root.get('/settings/servers')).json
  expect(items).toMatchObject([{ name: 'two', state: 'ready' }, { name: 'one' }])
  const path = `/settings/servers/${added.json.id}`
  expect((await root.post(`${path}/drain`)).json).toMatchObject({ state: 'draining' })
  expect(await root.post(`/settings/servers/${firstServer}/drain`)).toMatchObject({ status: 409 })
  expect((await root.post(`${path}/activate`)).json).toMatchObject({ state: 'ready' })
  const page = (await root.page('/settings/servers')).text
  expect(page).toContain(`${path}/drain`)
  for (const other of [`${path}/activate`, `${firstServer}/drain`])
    expect(page).not.toContain(other)
  const stored = JSON.stringify(t.db.$client.query('SELECT * FROM servers').all())
  for (const text of [added.text, page, stored]) expect(text).not.toContain('a secret key')

  expect(await root.delete(`/settings/servers/${firstServer}`)).toMatchObject({ status: 409 })
  expect(await root.delete(`/settings/servers/${added.json.id}`)).toMatchObject({ status: 200 })
  expect(own.calls).toEqual(['begin', 'remove node 10.0.0.2', 'leave'])
  expect(other.calls).toEqual(['join', 'leave'])
  nothingChanged(s)
})

test.each<[string, string, (s: ReturnType<typeof twoMachines>) => object | void]>([
  ['an old Docker', 'address', ({ other }) => void (other.info.version = '24.0.9')],
  ['a rootless Docker', 'address', ({ other }) => void (other.info.rootless = true)],
  ['another architecture', 'address', ({ other }) => void (other.info.arch = 'arm64')],
  ['another time', 'address', ({ other }) => void (other.info.time = new Date(0))],
  ['no overlay', 'address', ({ other }) => void (other.state.hasOverlay = false)],
  ['live-restore', 'address', ({ other }) => void (other.state.hasLiveRestore = true)],
  ['Davit’s own Docker', 'address', ({ other }) => void (other.state.engineId = 'one')],
  ['no connection', 'address', ({ other }) => void (other.unreachable = failed('ECONNREFUSED'))],
  ['another host key', 'hostKey', ({ other }) => void (other.unreachable = failed('Host denied'))],
  [
    'a key that opens nothing',
    'sshKey',
    ({ other }) =>
      void (other.unreachable = failed('All configured authentication methods failed')),
  ],
  [
    'a broken key',
    'sshKey',
    ({ other }) => void (other.unreachable = failed('Cannot parse privateKey')),
  ],
  ['a name as address', 'address', () => ({ address: 'two.example.com' })],
  ['a loopback address', 'address', () => ({ address: '127.0.0.1' })],
  ['a name with quotes', 'name', () => ({ name: '"two"' })],
  ['an option as user', 'sshUser', () => ({ sshUser: '-oProxyCommand=x' })],
  ['a port beyond all', 'sshPort', () => ({ sshPort: 70_000 })],
  ['labels with quotes', 'labels', () => ({ labels: { zone: '"east"' } })],
  ['no host key', 'hostKey', () => ({ hostKey: 'AAAA' })],
  ['a role twice', 'roles', () => ({ roles: ['edge', 'edge'] })],
  ['a role that isn’t one', 'roles', () => ({ roles: ['root'] })],
])('%s is refused at its field before anything is changed', async (_, name, prepare) => {
  const s = twoMachines()
  const answer = await s.add(prepare(s) ?? {})
  expect(answer.status).toBe(422)
  expect(answer.json.errors).toMatchObject([{ field: name }])
  nothingChanged(s)
  expect([...s.own.calls, ...s.other.calls]).toEqual([])
})

const failed = (message: string) =>
  new Failure('engine_unreachable', 'It can’t be reached.', 'Wait.', { cause: new Error(message) })

test('a member of another swarm is refused, also of the operator’s own; one that a killed Davit left joins again', async () => {
  const s = twoMachines()
  Object.assign(s.other.state, { isMember: true, nodeId: 'foreign', managers: ['10.0.0.7'] })
  const refused = async () => {
    expect((await s.add()).json.errors).toMatchObject([{ field: 'address' }])
    expect([...s.own.calls, ...s.other.calls]).toEqual([])
  }
  await refused()
  const own = { nodeId: 'own', address: '10.0.0.1' }
  Object.assign(s.own.state, { ...own, isMember: true, isManager: true })
  s.other.state.managers = ['10.0.0.1']
  s.own.nodes.set('foreign', true)
  await refused()

  const facts = { engine: '28.5.2', cpus: 2, memoryMb: 2048, hasBegunSwarm: true }
  insertServer(s.t.db, { ...own, ...facts, id: firstServer, name: 'one' })
  expect((await s.add()).status).toBe(201)
  expect(s.other.calls).toEqual(['leave', 'join'])
  expect(s.own.nodes.has('foreign')).toBe(false)
})

test.each(['begin', 'join'])('a join that fails at %s is undone', async (step) => {
  const s = twoMachines()
  s.own.failing = s.other.failing = step
  expect((await s.add()).status).toBeGreaterThanOrEqual(500)
  nothingChanged(s)
  s.own.failing = s.other.failing = ''
  expect((await s.add()).status).toBe(201)
})

test('a join may take longer than other requests', async () => {
  const s = twoMachines({ DAVIT_REQUEST_TIMEOUT: '1' })
  s.own.slowness = 5
  expect((await s.add()).status).toBe(201)
})

test('a name or address that is there is a conflict', async () => {
  const s = twoMachines()
  expect((await s.add({ name: 'one' })).json.errors).toMatchObject([{ field: 'name' }])
  expect((await s.add({ address: '10.0.0.1' })).json.errors).toMatchObject([{ field: 'address' }])
  nothingChanged(s)
  await s.add()
  for (const [field, body] of Object.entries({
    name: { address: '10.0.0.3' },
    address: { name: 'three' },
  })) {
    const answer = await s.add(body)
    expect(answer).toMatchObject({ status: 409, json: { errors: [{ field }] } })
  }
})

test('a server that has joined can’t join again at another address', async () => {
  const s = twoMachines()
  await s.add()
  const again = await s.add({ name: 'three', address: '10.0.0.3' })
  expect(again).toMatchObject({ status: 422, json: { errors: [{ field: 'address' }] } })
  expect(s.other.calls).toEqual(['join'])
})

test('a swarm of the operator’s own is used, and stays', async () => {
  const s = twoMachines()
  Object.assign(s.own.state, {
    isMember: true,
    isManager: true,
    nodeId: 'own',
    address: '10.0.0.1',
  })
  const { id } = (await s.add()).json
  s.t.engines.setAway({ serverId: id }, false)
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect(s.own.calls).toEqual(['remove node 10.0.0.2'])
  expect(listServers(s.t.db)).toEqual([])
})

test('a server isn’t removed while an app is on it, and is once it is dead and empty', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  const project = (await s.root.post('/projects', { name: 'site', repositoryUrl })).json
  const [env] = (await s.root.get(`/projects/${project.id}/envs`)).json.items
  const of = { releaseId: 'r', workloadId: env.id, component: 'web', state: 'live' } as const
  s.t.db.$client.run('PRAGMA foreign_keys = OFF')
  const instance = insertInstance(s.t.db, { ...of, containerId: 'c', serverId: id })
  const refused = await s.root.delete(`/settings/servers/${id}?confirm=1&force=1`)
  expect(refused.status).toBe(409)
  expect(refused.text).toContain('site')

  updateInstance(s.t.db, instance.id, { state: 'removed' })
  expect((await s.root.get(`/settings/servers/${id}`)).json.instances).toBe(0)
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect(s.other.calls).toEqual(['join'])
  expect(s.own.calls).toEqual(['begin', 'remove node 10.0.0.2', 'leave'])
})

test('a server ends its edge before it leaves, and volumes of that keep none from being removed', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  s.t.engines.setAway({ serverId: id }, false)
  const add = (name: string, kind: 'edge' | 'service') =>
    s.other.engine.volumes.set(name, {
      name,
      labels: labelsFor({ instanceId: s.t.instanceId, kind, ownerId: '' }),
    })
  add('of-edge', 'edge')
  add('of-service', 'service')
  const refused = await s.root.delete(`/settings/servers/${id}`)
  expect(refused).toMatchObject({ status: 409 })
  expect(refused.text).toContain('of-service')
  expect(refused.text).not.toContain('of-edge')

  s.other.engine.volumes.delete('of-service')
  const ended: string[] = []
  const end = async (serverId: string) => {
    ended.push(serverId, ...s.other.calls)
    return { [Symbol.dispose]: () => void ended.push('over') }
  }
  const stateOf = () => ({ state: 'serving', trouble: null })
  Object.assign(s.t.edge, { others: { end, stateOf } })
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  expect(ended).toEqual([id, 'join', 'over'])
  expect(s.other.calls).toEqual(['join', 'leave'])
})

test('a dead server is removed with its apps when they are given up', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  const project = (await s.root.post('/projects', { name: 'site', repositoryUrl })).json
  const [env] = (await s.root.get(`/projects/${project.id}/envs`)).json.items
  const of = { releaseId: 'r', workloadId: env.id, component: 'web' } as const
  s.t.db.$client.run('PRAGMA foreign_keys = OFF')
  s.t.db
    .insert(workloads)
    .values(workloadRow({ id: env.id, kind: 'app' }))
    .run()
  insertInstance(s.t.db, { ...of, state: 'live', containerId: 'c', serverId: id })
  insertInstance(s.t.db, { ...of, state: 'draining', containerId: 'd', serverId: id })
  const path = `/settings/servers/${id}`

  s.t.engines.setAway({ serverId: id }, false)
  const alive = await s.root.delete(`${path}?volumes=give_up`)
  expect(alive.status).toBe(409)
  expect(alive.text).not.toContain('give_up')

  s.t.engines.setAway({ serverId: id }, true)
  for (const how of ['', '?volumes=refuse', '?confirm=1&force=1']) {
    const refused = await s.root.delete(path + how)
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.text).toContain('give_up')
  }
  const wrong = await s.root.delete(`${path}?volumes=all`)
  expect(wrong).toMatchObject({ status: 422, json: { errors: [{ field: 'volumes' }] } })
  const dialog = await s.root.htmx('DELETE', path)
  expect(dialog.status).toBe(409)
  expect(dialog.text).toContain('value="give_up"')
  expect(s.own.calls).toEqual(['begin'])
  expect(listInstances(s.t.db, env.id)).toHaveLength(2)

  const given = await s.root.htmx('DELETE', `${path}?volumes=give_up`)
  expect(given.status).toBeLessThan(400)
  expect(s.own.calls).toEqual(['begin', 'remove node 10.0.0.2', 'leave'])
  expect(listInstances(s.t.db, env.id)).toEqual([])
  expect(listServers(s.t.db)).toEqual([])
  expect((await s.root.delete(`/projects/${project.id}`)).status).toBe(200)
})

const repositoryUrl = 'https://git.example.com/team/site.git'

test('a server whose key can’t be read any more can be removed', async () => {
  const s = twoMachines()
  const { id } = (await s.add()).json
  s.t.engines.remove({ serverId: id }) // as after a start without its key
  expect((await s.root.delete(`/settings/servers/${id}`)).status).toBe(200)
  nothingChanged({ ...s, other: s.own })
})
