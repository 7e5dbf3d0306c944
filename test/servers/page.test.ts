import { expect, onTestFinished, test } from 'bun:test'
import { spaceIn } from '../../src/docker/root-space.ts'
import { lineRows, pack, readBlock } from '../../src/logs/block.ts'
import { lineHtml, lineJson } from '../../src/logs/log-line.tsx'
import { originOf } from '../../src/logs/process-store.ts'
import { Failure } from '../../src/platform/errors.ts'
import { deleteServer, updateServer } from '../../src/servers/store.ts'
import { serverId } from '../support/servers.ts'
import { until } from '../support/until.ts'
import { aFleet } from './fleet.ts'

const space = { folder: '/var/lib/docker', size: 40e9, free: 10e9, used: 75 }

type Watch = { changed: (isOpen: boolean) => void }

/** Three servers with two apps of three replicas each. */
function three() {
  const f = aFleet({ servers: 3, apps: 2, replicas: 3 })
  const stop = new AbortController()
  const background = f.begin(stop.signal)
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  /** As when it is back. */
  const measure = (n: number) => {
    const feed = { run: async (_: unknown, watch: Watch) => watch.changed(true) }
    const docker = f.deps.engines.all[n - 1]!
    void f.serverEngines.watch(feed as never, docker, { signal: stop.signal })
  }
  const seen = async (n: number) => (await f.root.get(`/settings/servers/${serverId(n)}`)).json
  return { ...f, measure, seen }
}

test('a server has its free disk as soon as it was measured, and null where nothing can', async () => {
  const f = three()
  f.engines[1]!.space = space
  await until(async () => (await f.seen(2)).diskFree === space.free)
  expect((await f.seen(3)).diskFree).toBeNull()
  expect(await f.seen(2)).toMatchObject({ name: 'server2', state: 'ready', instances: 2, cpus: 2 })
})

test('the page of a server lists its apps with their containers, and what they use', async () => {
  const f = three()
  await until(() => [2, 3].every((n) => !f.deps.engines.isAway({ serverId: serverId(n) })))
  const [id] = f.engines[1]!.containers.keys()
  const usage = { memory: 512 * 2 ** 20, cpu: 50 }
  f.deps.usage.latest = (of) => (of === id ? { usage: usage as never, time: new Date() } : null)
  const { text } = await f.root.page(`/settings/servers/${serverId(2)}`)
  const details = text.slice(text.indexOf('server-details'))
  const links = [...details.matchAll(/row-link" href="([^"]+)"/g)].map(([, href]) => href!)
  expect(links.sort()).toEqual(
    f.live.map(({ project, environment }) => `/projects/${project}/envs/${environment}`).sort(),
  )
  const meters = [...details.matchAll(/<meter [^>]*value="([^"]+)"/g)]
  expect(meters.map(([, value]) => Number(value))).toEqual([0.25, 0.0625])
})

test('the page of a server says how its edge is, and so does its JSON', async () => {
  const f = three()
  const trouble = new Failure('edge_timeout', 'It is late.', 'Wait.')
  const stateOf = (id: string) =>
    id === serverId(2) ? { state: 'outdated', trouble } : { state: 'off', trouble: null }
  Object.assign(f.deps.edge, { others: { stateOf, doubt() {} } })
  const page = async (n: number) =>
    (await f.root.page(`/settings/servers/${serverId(n)}`)).text.split('server-details')[1]!
  expect(await page(2)).toContain('It is late. Wait.')
  expect(await page(2)).toContain('<dt>Edge</dt>')
  expect(await page(3)).not.toContain('Edge')
  expect([(await f.seen(1)).edge, (await f.seen(2)).edge]).toEqual(['off', 'outdated'])
})

test('a second manager of the swarm is warned of', async () => {
  const node = { isManager: true, isReachable: true, isReady: true }
  const nodes = ['node1', 'node2'].map((id) => ({ id, ...node }))
  const f = three()
  const text = async () => (await f.root.page('/settings/servers')).text
  await until(() => f.serverEngines.managers === 1)
  expect(await text()).not.toContain('two managers')
  f.faults.listNodes = async () => nodes.map((one) => ({ ...one, hostname: one.id }))
  f.measure(1)
  await until(() => f.serverEngines.managers === 2)
  f.faults.listNodes = () => Promise.reject(new Error('The swarm does not have a leader.'))
  f.serverEngines.disks.set(serverId(1), space)
  f.measure(1)
  await until(() => f.serverEngines.disks.get(serverId(1)) !== space) // all of it was measured
  expect(await text()).toContain('two managers')
})

test('the dashboard has all servers, those that are away first, and links for admins alone', async () => {
  const f = three()
  const strip = async (client: typeof f.root) => {
    const { text } = await client.page('/dashboard')
    const [fleet = ''] = /<details class="fleet"[^]*?<\/details>/.exec(text) ?? []
    return {
      isOpen: /^<details[^>]* open/.test(fleet),
      names: [...fleet.matchAll(/<bdi>(server\d)<\/bdi>/g)].map(([, name]) => name!),
      links: fleet.split('href="/settings/servers/').length - 1,
    }
  }
  await until(() => [2, 3].every((n) => !f.deps.engines.isAway({ serverId: serverId(n) })))
  expect(await strip(f.root)).toMatchObject({ isOpen: false, links: 2 })
  updateServer(f.db, serverId(3), { lastSeenAt: new Date() })
  expect(await strip(f.logIn('ada@example.com'))).toEqual({
    ...{ isOpen: true, names: ['server3', 'server2'], links: 0 },
  })
})

test('what df writes is read, whoever wrote the program', () => {
  const head = 'Filesystem     1024-blocks     Used Available Capacity Mounted on\n'
  expect(spaceIn(`${head}overlay 100 50 40 56% /\n`, '/d')).toEqual({
    ...{ folder: '/d', size: 90 * 1024, free: 40 * 1024, used: 56 },
  })
  for (const odd of ['', head, 'overlay x 1 1 1% /', `overlay ${'9'.repeat(30)} 1 1 1% /`])
    expect(spaceIn(odd, '/d')).toBeNull()
})

test('lists, map, search and logs name the server of what runs on several', async () => {
  const f = three()
  const [first] = f.live
  const list = (await f.root.page('/containers?q=server2')).text
  const named = [...list.matchAll(/on <bdi>(server\d)</g)].map(([, name]) => name)
  expect(named).toEqual(['server2', 'server2'])
  const [container] = f.engines[2]!.containers.keys()
  expect((await f.root.page(`/containers/${container}`)).text).toContain('<bdi>server3</bdi>')
  const { nodes } = (await f.root.get('/map')).json
  expect(nodes.find(({ id }: { id: string }) => id === first!.environment).note).toMatch(
    /on 3 servers$/,
  )
  const found = async (client: typeof f.root) => (await client.get('/search?q=server3')).json.items
  expect(await found(f.root)).toMatchObject([
    { kind: 'server', name: 'server3', url: `/settings/servers/${serverId(3)}` },
  ])
  expect(await found(f.logIn('ada@example.com'))).toEqual([])
  const cursor = { containerId: container!, deploymentId: first!.id, serverId: serverId(3) }
  const origin = { ...originOf(f.db, cursor, {}), container: 'davit-one' }
  const rows = lineRows([
    { time: 1, stream: 'stdout', text: 'Hello', origin },
    { time: 2, stream: 'stdout', text: 'alone', origin: { ...origin, server: undefined } },
  ])
  const lines = readBlock({ first: 1, data: Buffer.from(pack(rows)) })
  expect(lines.map((line) => lineJson(line).server)).toEqual(['server3', null])
  expect(lines.map((line) => lineHtml(line).includes('<i>server3</i>'))).toEqual([true, false])
})

test('with one server none is named', async () => {
  const f = aFleet({ servers: 1, apps: 1, replicas: 2 })
  deleteServer(f.db, serverId(1))
  expect((await f.root.page('/containers')).text).not.toContain('on <bdi>')
  expect((await f.root.page('/dashboard')).text).not.toContain('class="fleet"')
  const { nodes } = (await f.root.get('/map')).json
  expect(nodes.filter(({ note }: { note: string | null }) => / on /.test(note ?? ''))).toEqual([])
})
