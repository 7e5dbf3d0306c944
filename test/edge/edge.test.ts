import { afterAll, expect, test } from 'bun:test'
import { folderInside, refuseOldCaddy } from '../../src/edge/container.ts'
import { Edge } from '../../src/edge/edge.ts'
import { ownCaddy } from '../../src/edge/own.ts'
import { pageAddress } from '../../src/edge/plan.ts'
import type { Host, Listener } from '../../src/edge/plan.ts'
import { drained, listening } from '../../src/edge/sockets.ts'
import {
  edgeEngine,
  ensureEdgeContainer,
  removeEdgeContainer,
} from '../../src/runtime/edge-container.ts'
import { Failure } from '../../src/platform/errors.ts'
import { askEngine } from '../support/machine/engine.ts'
import { until } from '../support/until.ts'
import { freePort } from '../support/free-port.ts'
import { aHost, anEdge, signal } from './caddy.ts'

const edge = await anEdge()
const { admin, deps, folder, ports } = edge
edge.slots(
  'app',
  edge.app(() => new Response('app')),
)

let hosts: Host[] = [aHost('app.test')]
let listeners: Listener[] = []
const davits = new Edge({
  folder,
  caddy: ownCaddy({ folder, ports, engine: edgeEngine(deps) }),
  isOptional: true,
  plan: () => ({ hosts, listeners, authority: null }),
  fill() {},
})
const over = new AbortController()
const running = davits.run({ signal: over.signal })
afterAll(async () => {
  over.abort()
  await running
})

/** A connection that asks for nothing. */
async function connected(port: number) {
  const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
  return Object.assign(socket, { [Symbol.asyncDispose]: async () => void socket.end() })
}

const serves = async (name: string) => {
  const response = await edge.get(`http://${name}/`).catch(() => null)
  return (await response?.text()) === 'app'
}
const list = () => deps.docker.listContainers({ labels: [`davit.instance=${deps.instanceId}`] })

test('a host that was added is served at once', async () => {
  await until(() => serves('app.test'))
  hosts = [...hosts, aHost('second.test')]
  davits.sync()
  await until(() => serves('second.test'))
  expect(davits.trouble).toBeNull()
})

const configured = async () => JSON.stringify(await admin.read('config/', { signal }))

/** Until the configuration has it: for what waits until no one is connected. */
const listed = (name: string) =>
  until(async () => {
    await davits.sync() // to its end: Caddy cuts off who reads while it takes a configuration
    return (await configured()).includes(name)
  })

test('hosts come and go without a new configuration while someone is connected', async () => {
  await listed('second.test')
  await using visitor = await connected(ports.http)
  edge.slots('idle', pageAddress(folderInside, 'stopped'))
  const before = await configured()
  hosts = [...hosts, aHost('third.test'), aHost('idle.test', { target: { slots: 'idle' } })]
  davits.sync()
  await until(() => serves('third.test'))
  expect(await (await edge.get('http://idle.test/')).text()).toContain('This app is stopped')
  hosts = hosts.filter(({ name }) => name !== 'second.test')
  davits.sync()
  await until(async () => (await edge.get('http://second.test/')).status === 404)
  expect(await configured()).toBe(before)
  visitor.end()
  await listed('third.test')
  expect(await configured()).not.toContain('second.test')
  expect(await serves('third.test')).toBe(true)
})

test('other changes don’t wait', async () => {
  await using _ = await connected(ports.http)
  hosts = [...hosts, aHost('strict.test', { maxBody: 1 })]
  davits.sync()
  await until(async () => (await configured()).includes('strict.test'))
  // one that has HTTPS by now is redirected
  const https = { kind: 'auto', mayAsk: false, redirect: true } as const
  hosts = hosts.map((host) => (host.name === 'third.test' ? { ...host, https } : host))
  await davits.sync()
  expect((await edge.get('http://third.test/')).status).toBe(308)
  hosts = hosts.map((host) => (host.name === 'third.test' ? aHost('third.test') : host))
  await davits.sync()
  expect(await serves('third.test')).toBe(true)
})

test('what someone changed by hand is put right', async () => {
  await admin.write('DELETE', 'config/apps/http/servers/hosts', null, { signal })
  expect(await serves('app.test')).toBe(false)
  davits.sync()
  await until(() => serves('app.test'))
})

test('a change by hand is found each time, also after looks that found none', async () => {
  for (const path of ['config/apps/http/servers/hosts', 'config/logging']) {
    await davits.sync()
    await davits.sync()
    const inForce = await admin.read(path, { signal })
    await admin.write('DELETE', path, null, { signal })
    await davits.sync()
    expect(await admin.read(path, { signal })).toEqual(inForce)
  }
})

test('it is configured while the engine is away', async () => {
  const away = () => Promise.reject(new Failure('engine_unreachable', 'Away.', 'Start it.'))
  const engine = { look: away, pull: away, ensure: away, remove: away }
  const caddy = ownCaddy({ folder, ports, engine })
  const plan = () => ({ hosts, listeners, authority: null })
  const other = new Edge({ folder, caddy, isOptional: true, plan, fill() {} })
  const end = new AbortController()
  hosts = [...hosts, aHost('away.test')]
  const looking = other.run({ signal: end.signal })
  await other.ready({ signal })
  expect(other).toMatchObject({ mode: 'caddy', trouble: null })
  expect(await serves('away.test')).toBe(true)
  end.abort()
  await looking
})

test('a Caddy that was removed is there again, and starts with its whole configuration', async () => {
  const before = await configured()
  await removeEdgeContainer(deps, { signal })
  await davits.sync()
  await until(() => serves('app.test'))
  expect(await configured()).toBe(before)
  const [container] = await list()
  const log = await askEngine(`/containers/${container!.id}/logs?stdout=1&stderr=1`)
  expect(await log.text()).not.toContain('"uri":"/load"')
})

test('a host that Caddy refuses is left out, and all others are served', async () => {
  const good = hosts
  const https = { kind: 'own', redirect: true, certificate: 'none', key: 'none' } as const
  hosts = [aHost('bad.test', {}, { https }), ...good, aHost('fourth.test')]
  await davits.sync()
  expect(davits.rejected).toMatchObject([{ host: 'bad.test', failure: { code: 'edge_host' } }])
  expect(davits.trouble?.message).toContain('bad.test isn’t served')
  expect((await edge.get('http://bad.test/')).status).toBe(404)
  expect(await serves('third.test')).toBe(true)
  expect(await serves('fourth.test')).toBe(true)
  hosts = good
  await davits.sync()
  expect(davits.trouble).toBeNull()
})

test('a port that is taken is left out until it is free', async () => {
  const other = Bun.listen({ hostname: '127.0.0.1', port: freePort(), socket: { data() {} } })
  const taken = { address: '127.0.0.1', port: other.port, slots: 'app' }
  const free = { address: '127.0.0.1', port: freePort(), slots: 'app' }
  listeners = [taken, free]
  await davits.sync()
  expect(davits.rejected).toMatchObject([{ port: other.port, failure: { code: 'edge_port' } }])
  const textAt = async ({ port }: Listener) => (await fetch(`http://127.0.0.1:${port}/`)).text()
  expect(await textAt(free)).toBe('app')
  other.stop(true)
  await davits.sync()
  expect(davits.rejected).toEqual([])
  expect(await textAt(taken)).toBe('app')

  // one that is taken while Caddy is down keeps it from nothing
  const [{ id } = { id: '' }] = await list()
  await deps.docker.stopContainer(id, { timeoutSeconds: 1 })
  const thief = Bun.listen({ hostname: '127.0.0.1', port: taken.port, socket: { data() {} } })
  davits.invalidate()
  await davits.sync()
  expect(davits.rejected).toMatchObject([{ port: taken.port }])
  expect(await textAt(free)).toBe('app')
  thief.stop(true)
  listeners = []
  await davits.sync()
})

test('after many changes in a row, the next ones share a load', async () => {
  const sized = (maxBody: number) => (hosts = [aHost('app.test', { maxBody })])
  await davits.sync()
  for (let size = 1000, isShared = false; !isShared; size += 2) {
    expect(size).toBeLessThan(1100)
    sized(size)
    const look = davits.sync()
    await serves('app.test') // long enough for a look that doesn't wait
    sized(size + 1)
    await look
    isShared = (await configured()).includes(`"max_size":${size + 1}}`)
  }
})

test('a Caddy that is killed is back by itself with its configuration, Davit being down', async () => {
  over.abort()
  await running
  const [container] = await list()
  const inspected = await (await askEngine(`/containers/${container!.id}/json`)).json()
  process.kill((inspected as { State: { Pid: number } }).State.Pid, 'SIGKILL')
  await until(() => serves('app.test'))
  expect((await list()).map(({ id }) => id)).toEqual([container!.id])
})

test('one that is right is left alone; one of other settings is replaced', async () => {
  const [before] = await list()
  expect(await ensureEdgeContainer(deps, { folder, signal })).toBe(before!.id)
  await deps.docker.stopContainer(before!.id, { timeoutSeconds: 1 })
  expect(await ensureEdgeContainer(deps, { folder, signal })).toBe(before!.id)
  const replaced = await ensureEdgeContainer(deps, { folder: `${folder}/.`, signal })
  expect(replaced).not.toBe(before!.id)
  expect((await list()).map(({ id }) => id)).toEqual([replaced])
})

test('a Caddy before 2.9 is refused with the version that is needed', () => {
  for (const version of ['v2.9.0 h1:abc=', '2.11.4', 'v3.0.1', '(devel)']) refuseOldCaddy(version)
  expect(() => refuseOldCaddy('2.6.2')).toThrow('Caddy 2.6 is too old: Davit needs 2.9 or newer.')
})

test('connections to an app are known until the last has ended', async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => promise.then(() => new Response('')),
  })
  const address = `127.0.0.1:${server.port}`
  const isListening = await listening()
  expect(isListening(server.port!)).toBe(true)
  expect(isListening(server.port!, '127.0.0.1')).toBe(true)
  expect(isListening(server.port!, '127.0.0.2')).toBe(false)
  expect(isListening(freePort())).toBe(false)
  const asked = fetch(`http://${address}/`, { keepalive: false })
  await until(async () => !(await drained([address], { seconds: 0, signal })))
  const draining = drained([address, '127.0.0.1:1'], { seconds: 60, signal })
  resolve()
  await asked
  expect(await draining).toBe(true)
  await server.stop(true)
})
