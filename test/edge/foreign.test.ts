import { afterAll, expect, test } from 'bun:test'
import { chmodSync, chownSync, mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { folderInside } from '../../src/edge/container.ts'
import { Edge } from '../../src/edge/edge.ts'
import { foreignCaddy } from '../../src/edge/foreign.ts'
import { adminAddress } from '../../src/edge/plan.ts'
import type { Host, Listener } from '../../src/edge/plan.ts'
import { makeFolder } from '../../src/edge/slots.ts'
import type { Apart } from '../../src/docker/index.ts'
import { Failure } from '../../src/platform/errors.ts'
import { freePort } from '../support/free-port.ts'
import { aHost, anEdge, signal } from './caddy.ts'

const edge = await anEdge()
const { admin, folder, ports } = edge
const appAddress = edge.app(() => new Response('app'))
edge.slots('app', appAddress)

const own = {
  match: [{ host: ['own.test'] }],
  handle: [{ handler: 'static_response', body: 'own' }],
}

/** What a user has configured, who knows nothing of Davit. */
const usersOwn = (server: object) => ({
  admin: { listen: adminAddress(folderInside) },
  apps: { http: { http_port: ports.http, servers: { srv0: server } } },
})

let hosts: Host[] = []
let listeners: Listener[] = []
const caddy = foreignCaddy({
  folder,
  ports,
  admin: { socket: join(folder, 'admin.sock') },
  davit: '127.0.0.1:1',
})
const davits = new Edge({
  folder,
  caddy: { ...caddy, folder: folderInside }, // it is in a container here
  isOptional: false,
  plan: () => ({ hosts, listeners, authority: null }),
  fill() {},
})
const over = new AbortController()
const running = davits.run({ signal: over.signal })
afterAll(async () => {
  over.abort()
  await running
})

async function apply(wanted: Host[]) {
  hosts = wanted
  await davits.sync()
  if (davits.trouble) throw davits.trouble
}

const textOf = async (address: string) => (await edge.get(address)).text()

test('a Caddy of the user’s own serves Davit’s hosts beside its own, and loses nothing by it', async () => {
  const before = usersOwn({ listen: [`:${ports.http}`], routes: [own] })
  await admin.load(before, { signal })
  await apply([aHost('app.test')])
  expect(await textOf('http://app.test/')).toBe('app')
  expect(await textOf('http://own.test/')).toBe('own')
  await apply([
    aHost('app.test'),
    aHost('own.app.test', { target: { redirect: 'http://app.test' } }),
  ])
  expect((await edge.get('http://own.app.test/x')).headers.get('Location')).toBe(
    'http://app.test/x',
  )
  const inForce = await admin.read('config/', { signal })
  await apply([
    aHost('app.test'),
    aHost('own.app.test', { target: { redirect: 'http://app.test' } }),
  ])
  expect(await admin.read('config/', { signal })).toEqual(inForce)
  await apply([])
  expect(await admin.read('config/', { signal })).toEqual(before)
})

test('one without routes gets its first, and one without a server is told what to do', async () => {
  await admin.load(usersOwn({ listen: [`:${ports.http}`] }), { signal })
  await apply([aHost('app.test')])
  expect(await textOf('http://app.test/')).toBe('app')
  await admin.load(usersOwn({ listen: ['127.0.0.1:1'] }), { signal })
  await expect(apply([aHost('app.test')])).rejects.toMatchObject({ code: 'edge_no_server' })
})

test('pages of apps are served by it, and ports too', async () => {
  await admin.load(usersOwn({ listen: [`:${ports.http}`] }), { signal })
  listeners = [{ address: '127.0.0.1', port: freePort(), slots: 'app' }]
  await apply([aHost('app.test')])
  expect(davits).toMatchObject({ mode: 'external', isOn: true, trouble: null })
  expect(await (await fetch(`http://127.0.0.1:${listeners[0]!.port}/`)).text()).toBe('app')
  davits.route('app', 'stopped')
  const stopped = await edge.get('http://app.test/')
  expect(stopped.status).toBe(503)
  expect(await stopped.text()).toContain('This app is stopped')
  listeners = []
  await apply([])
  expect(JSON.stringify(await admin.read('config/', { signal }))).not.toContain('davit')
})

test('a host that it refuses is left out, and all others are served', async () => {
  hosts = [aHost('bad.test', { allow: ['no range'] }), aHost('third.test')]
  davits.route('app', [appAddress])
  await davits.sync()
  expect(davits.rejected).toMatchObject([{ host: 'bad.test' }])
  expect(await textOf('http://third.test/')).toBe('app')
})

test('it may read the slots and nothing else, or is told who has to let it in', async () => {
  await davits.sync()
  expect(statSync(join(folder, 'slots/app/0')).mode & 0o777).toBe(0o644)
  const closed = mkdtempSync(join(folder, 'closed-'))
  const place = join(closed, 'data/edge')
  makeFolder(place)
  const socket = join(closed, 'admin.sock')
  writeFileSync(socket, '')
  chownSync(socket, 4711, 4711)
  const plan = { folder: place, ports, hosts: [], listeners: [], authority: null }
  const start = () =>
    foreignCaddy({ folder: place, ports, admin: { socket }, davit: '' }).start(plan, { signal })
  await expect(start()).rejects.toMatchObject({
    code: 'edge_closed',
    message: `Your Caddy runs as another user, who can’t access ${closed}.`,
  })
  chmodSync(closed, 0o711)
  await start()
  for (const name of ['', 'slots', 'hosts'])
    expect(statSync(join(place, name)).mode & 0o777).toBe(0o711)
  expect(statSync(join(place, 'certificates')).mode & 0o777).toBe(0o700)
})

test('a Caddy of Davit’s own, which had the ports before, ends once the engine answers', async () => {
  const asked: string[] = []
  let failure: Failure | null = new Failure('engine_unreachable', 'Away.', 'Start it.')
  const place = mkdtempSync(join(folder, 'own-'))
  makeFolder(place)
  const socket = join(place, 'admin.sock')
  writeFileSync(socket, '')
  let apart: Apart | null = null
  const engine = {
    look: async () => ({ apart, isContained: false, isRunning: true, hasImage: true }),
    async remove() {
      asked.push(failure ? 'away' : 'ended')
      if (failure) throw failure
    },
  }
  const given = { folder: place, ports, admin: { socket }, davit: '', engine }
  const others = foreignCaddy(given)
  const plan = { folder: place, ports, hosts: [], listeners: [], authority: null }
  await others.start(plan, { signal })
  failure = null
  await others.start(plan, { signal })
  await others.start(plan, { signal })
  expect(asked).toEqual(['away', 'ended'])

  // one of this machine reaches no container of another
  for (apart of ['remote', 'rootless'] as const)
    await expect(foreignCaddy(given).start(plan, { signal })).rejects.toMatchObject({
      code: 'edge_direct',
    })
})
