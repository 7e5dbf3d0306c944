import { expect, test } from 'bun:test'
import { liveOf } from '../../src/apps/live.ts'
import type { LiveInstance } from '../../src/apps/live.ts'
import { EngineError } from '../../src/docker/index.ts'
import { firstServer } from '../../src/platform/root.ts'
import {
  listHeld,
  publishedAt,
  releaseAddresses,
  reservePort,
} from '../../src/runtime/endpoint-store.ts'
import { reserveEndpoints } from '../../src/runtime/endpoints.ts'
import { pinnedTo, pinTo } from '../../src/runtime/pins.ts'
import { listPlaces } from '../../src/runtime/routing-store.ts'
import { restartLive, stopLive } from '../../src/runtime/restart.ts'
import { removeFromEngine } from '../../src/runtime/remove.ts'
import {
  insertInstance,
  listInstances,
  listLiveInstances,
  updateInstance,
} from '../../src/runtime/store.ts'
import { networkNameOf, overlayOf } from '../../src/runtime/workload.ts'
import { updateServer } from '../../src/servers/store.ts'
import { FakeEngine } from '../interleavings/engine/engine.ts'
import type { FakeContainer } from '../interleavings/engine/state.ts'
import { serverId } from '../support/servers.ts'
import { twoServers } from './two-servers.ts'
import { broken } from './workload.ts'

const second = serverId(2)

const networksOf = (engine: FakeEngine) =>
  engine.containers
    .values()
    .map(({ endpoints }) =>
      [...endpoints.keys()].map((name) => name.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, 'id')),
    )
    .toArray()

test('a container of another server has its image, and an overlay that others are on, too', async () => {
  const s = await twoServers()
  const { db, workload } = s
  await s.roll('here', { components: s.web('here') })
  expect(networksOf(s.engine)).toEqual([['davit-id']])

  s.place({ server: second })
  await s.roll('there', { components: s.web('there') })
  expect(s.copies()).toBe(1)
  expect(listLiveInstances(db, workload.id)).toMatchObject([{ serverId: second }])
  expect(networksOf(s.other)).toEqual([['davit-id-swarm']])
  const [{ address }] = liveOf(s.deps, workload)!.instances as [LiveInstance]
  const [{ endpoints }] = [...s.other.containers.values()] as [FakeContainer]
  expect(endpoints.values().next().value).toMatchObject({ wanted: address })
  await s.roll('again', { components: s.web('again') })
  expect(s.copies()).toBe(1)

  s.place({ labels: {}, spread: 'servers' })
  await s.roll('both', { components: s.web('both', 2) })
  expect(networksOf(s.engine)).toEqual([['davit-id', 'davit-id-swarm']])
  expect(networksOf(s.other)).toEqual([['davit-id-swarm']])
  await removeFromEngine(s.deps, { kind: 'app', projectId: workload.projectId, volumes: false })
  expect([s.engine.containers.size, s.other.containers.size]).toEqual([0, 0])
  expect(await s.docker.listNetworks({ labels: [`davit.instance=${s.instanceId}`] })).toEqual([])
})

test('only networks across servers are encrypted, once that is set', async () => {
  const s = await twoServers()
  Object.assign(s.deps.config, { overlayEncrypted: true })
  const made: [string, boolean | undefined][] = []
  s.faults.createNetwork = (asked) => {
    made.push([asked.name, asked.isEncrypted])
    return s.docker.createNetwork(asked)
  }
  await s.roll('here', { components: s.web('here') })
  s.place({ server: second })
  await s.roll('there', { components: s.web('there') })
  const name = networkNameOf(s.workload)
  expect(made).toEqual([
    [name, false],
    [overlayOf(name), true],
  ])
})

test('two starts elsewhere attach what is here at once, but for what goes meanwhile', async () => {
  const s = await twoServers()
  const { db, deps, workload } = s
  await s.roll('here', { components: s.web('here', 2) })
  const [stays, goes] = listLiveInstances(db, workload.id).map(({ containerId }) => containerId!)
  s.faults.inspectContainer = async (id, options) => {
    const found = await s.docker.inspectContainer(id, options)
    if (id === goes) s.engine.containers.delete(id)
    return found
  }
  const [component] = s.web('there')
  const start = (slot: number) => {
    const of = { workloadId: workload.id, component: 'web', slot, serverId: second }
    const instance = insertInstance(db, { releaseId: 'here', ...of })
    const run = { ...deps, workload, signal: new AbortController().signal }
    return reserveEndpoints(run, { members: [{ instance, component: component! }] })
  }
  await Promise.all([start(3), start(4)])
  const [, overlay] = [...s.engine.container(stays!).endpoints.values()]
  const [held] = listHeld(db, overlayOf(networkNameOf(workload))).values()
  expect(held).toBe(overlay!.wanted!)
})

test('a container that is made for an overlay has the names there of one that joins it later', async () => {
  const s = await twoServers()
  s.place({ labels: {}, spread: 'servers' })
  const [made] = s.web('one', 2)
  const options = { ...made!.options, networkAliases: ['db'] }
  await s.roll('one', { components: [{ ...made!, options }] })
  const [bridge, overlay] = [...s.engine.containers.values()][0]!.endpoints
  expect(overlay![1].aliases).toEqual(['db', `db.${bridge![0]}`])
})

test('what is kept of a version is only started again where it may run', async () => {
  const s = await twoServers()
  s.place({ server: second })
  await s.roll('one', { components: s.web('one') })
  const [instance] = listLiveInstances(s.db, s.workload.id)
  const at = (on = instance!) => s.runtime.isPlacedOn(s.workload, s.web('one'), on)
  expect(at()).toBe(true)
  updateServer(s.db, second, { isDraining: true })
  expect(at()).toBe(false)
  s.place(null)
  expect([at(), at({ ...instance!, serverId: firstServer })]).toEqual([false, true])
  s.place({ server: second })
  await expect(s.roll('two', { components: s.web('two') })).rejects.toMatchObject({
    code: 'no_server',
  })
  expect(listLiveInstances(s.db, s.workload.id)).toEqual([instance!])
})

test('ports of a server are each one’s alone, and the last one is used again last', async () => {
  const s = await twoServers()
  s.place({ server: second })
  await s.roll('one', { components: s.web('one', 4) })
  const all = listLiveInstances(s.db, s.workload.id)
  const reserve = (at: number) => reservePort(s.db, { instance: all[at]!, address: '198.51.100.2' })
  expect([0, 1, 2].map(reserve)).toEqual([true, true, true])
  const ports = () => all.map((instance) => publishedAt(s.db, instance)?.port)
  expect(ports()).toEqual([20_000, 20_001, 20_002, undefined])
  releaseAddresses(s.db, all[1]!.id)
  reserve(3)
  expect(ports()).toEqual([20_000, undefined, 20_002, 20_003])
  const [place] = listPlaces(s.db, s.workload)
  expect(place).toMatchObject({ address: '198.51.100.2', port: 20_000 })
  expect(publishedAt(s.db, { ...all[0]!, serverId: firstServer })).toBeNull()
})

test('an app of another server stops, starts and restarts at its port there', async () => {
  const s = await twoServers()
  s.place({ server: second })
  const components = s.web('one')
  await s.roll('one', { components })
  const { workload, deps } = s
  const [instance] = listLiveInstances(s.db, workload.id)
  // as if it had a port of its own, at which nothing would answer the gate here
  reservePort(s.db, { instance: instance!, address: '198.51.100.2' })
  const { port: host, address } = publishedAt(s.db, instance!)!
  s.other.container(instance!.containerId!).options.ports = [{ container: 80, host, address }]
  const signal = new AbortController().signal
  await stopLive(deps, { workload, signal })
  expect(await restartLive(deps, { workload, components, signal, stops: false })).toBe(true)
  expect(await restartLive(deps, { workload, components, signal, stops: true })).toBe(true)
  expect(listLiveInstances(s.db, workload.id)).toEqual([instance!])
  expect(s.other.containers.values().next().value!.held).toMatchObject([{ host, address }])
})

test('a container of Davit’s own server has a port for others once one of these has an edge', async () => {
  const s = await twoServers()
  const { db, workload } = s
  const [made] = s.web('one')
  const component = { ...made!, gate: { kind: 'probe', port: 80, path: null, timeout: 1 } as const }
  await s.roll('one', { components: s.web('one') })
  const { releaseId } = listLiveInstances(db, workload.id)[0]!
  const of = { workloadId: workload.id, component: 'web', serverId: firstServer }
  const start = async (slot: number) => {
    const instance = insertInstance(db, { releaseId, slot, ...of })
    const run = { ...s, workload, signal: new AbortController().signal }
    await reserveEndpoints(run, { members: [{ instance, component }] })
    return publishedAt(db, instance)
  }
  expect(await start(1)).toBeNull()
  updateServer(db, second, { roles: ['apps', 'edge'] })
  expect(await start(2)).toEqual({ address: '198.51.100.1', port: 20_000 })
})

test('other edges reach what has such a port there, and all else through Davit’s own', async () => {
  const s = await twoServers()
  const { db, workload } = s
  await s.roll('both', { components: s.web('both', 2) })
  const all = listLiveInstances(db, workload.id)
  for (const { id } of all) updateInstance(db, id, { port: 80 })
  const led: unknown[] = []
  s.edge.route = (_key, _here, elsewhere) => void led.push(elsewhere)
  Object.assign(s.edge, { others: { isOn: true } })
  const route = () => (s.routing.route(workload), led.pop())
  expect(route()).toBeNull()
  reservePort(db, { instance: all[0]!, address: '198.51.100.1' })
  expect(route()).toBeNull() // one alone would have all the requests there
  reservePort(db, { instance: all[1]!, address: '198.51.100.1' })
  expect(route()).toEqual(['198.51.100.1:20000', '198.51.100.1:20001'])
})

test('requests go past a server that is away, unless nothing is elsewhere', async () => {
  const s = await twoServers()
  const { db, workload, serverEngines, otherDocker } = s
  s.place({ labels: {}, spread: 'servers' })
  await s.roll('both', { components: s.web('both', 2) })
  const all = listLiveInstances(db, workload.id)
  for (const { id } of all) updateInstance(db, id, { port: 80 })
  reservePort(db, { instance: all[1]!, address: '198.51.100.2' })
  const led: unknown[] = []
  s.edge.route = (_, to) => void led.push(to)
  s.routing.route(workload)
  const [here, there] = led.pop() as string[]
  expect(there).toBe('198.51.100.2:20000')

  const signal = new AbortController().signal
  const change = (isOpen: boolean) => {
    const run: typeof s.feed.run = async (_, { changed }) => changed!(isOpen)
    return serverEngines.watch({ run } as typeof s.feed, otherDocker, { signal })
  }
  await change(false)
  expect(led.splice(0)).toEqual([[here]])
  await change(true)
  expect(led.splice(0)).toEqual([[here, there]])
  await change(false)
  updateInstance(db, all[0]!.id, { state: 'removed' })
  s.routing.route(workload)
  expect(led.pop()).toEqual([there])
})

test('a cancel ends the copy of an image, and a server that can’t take it fails the start', async () => {
  const s = await twoServers()
  await s.roll('one', { components: s.web('one') })
  const before = listLiveInstances(s.db, s.workload.id)
  s.place({ server: second })
  const cancel = new AbortController()
  const left = () => [s.other.containers.size, listInstances(s.db, s.workload.id)]
  s.otherDocker.loadImage = (_, { signal } = {}) =>
    new Promise((_, reject) => {
      signal!.addEventListener('abort', () => reject(signal!.reason))
      cancel.abort(new Error('cancelled'))
    })
  const two = () => s.roll('two', { components: s.web('two'), signal: cancel.signal })
  await expect(two()).rejects.toThrow('cancelled')
  expect(left()).toEqual([0, before])
  s.otherDocker.loadImage = () => Promise.reject(new EngineError(500, 'no space left on device'))
  await expect(s.roll('two', { components: s.web('two') })).rejects.toThrow('no space left')
  expect(left()).toEqual([0, before])
})

test('what has volumes runs where these are, until it is moved', async () => {
  const s = await twoServers()
  const { db, workload } = s
  const { id } = workload
  const roll = (version: string, on: object) => {
    const { movesTo: _, ...rest } = workload as typeof workload & { movesTo?: string }
    for (const key of Object.keys(workload)) delete (workload as Record<string, unknown>)[key]
    Object.assign(workload, rest, on)
    const [made] = s.web(version)
    const volumes = [{ name: `${id}-data`, path: '/data' }]
    return s.roll(version, { components: [{ ...made!, options: { ...made!.options, volumes } }] })
  }
  const at = () => [pinnedTo(db, id), ...listLiveInstances(db, id).map(({ serverId }) => serverId)]
  expect(at()).toEqual([null])
  await roll('one', { placement: { server: second } })
  expect(at()).toEqual([second, second])
  await roll('two', { placement: null })
  expect(at()).toEqual([second, second])
  expect([s.engine.volumes.size, s.other.volumes.size]).toEqual([0, 1])

  s.after('start three', broken)
  await expect(roll('three', { movesTo: firstServer })).rejects.toThrow('something broke')
  expect(at()).toEqual([second, second])
  await roll('four', { movesTo: firstServer })
  expect(at()).toEqual([firstServer, firstServer])

  s.engines.setAway({ serverId: second }, true)
  updateServer(db, second, { lastSeenAt: new Date() })
  pinTo(db, workload, second)
  await expect(roll('five', { placement: null })).rejects.toMatchObject({
    code: 'no_server',
    message: expect.stringContaining('it waits for server2, which has its volumes'),
  })
})
