import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import type { Docker } from '../../src/docker/index.ts'
import { judgeFaults, overlayFaults, swarmFaults } from '../../src/doctor/engine.ts'
import { checkMtu } from '../../src/doctor/mtu.ts'
import { checkServers } from '../../src/doctor/servers.ts'
import { Failure } from '../../src/platform/errors.ts'
import { openSecrets } from '../../src/platform/secrets.ts'
import { deleteServer, updateServer } from '../../src/servers/store.ts'
import { aFolder } from '../support/folder.ts'
import { serverId, storeServers } from '../support/servers.ts'
import { loopback } from '../support/tls.ts'

const day = 86_400_000
const space = { folder: '/d', size: 40e9, free: 30e9, used: 25 }
const node = { isReady: true, isManager: false, isReachable: false }
const manager = { ...node, isManager: true, isReachable: true }

type Info = Awaited<ReturnType<Docker['info']>>
type Fake = { info?: Partial<Info>; space?: typeof space | null; isAway?: boolean }

/** Davit’s data with two servers, whose engines say what a test decides. */
function two(env: Record<string, string> = {}) {
  const dataDir = aFolder()
  const secrets = openSecrets({ dataDir, secretKey: null })
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, secrets)
  storeServers(db, [{}, {}])
  const privateKey = secrets.seal('a key', `server ${serverId(2)} key`)
  updateServer(db, serverId(2), { ssh: 'ssh://davit@198.51.100.2:22', hostKey: 'AAAA', privateKey })
  const own: Fake & { nodes: object[]; networks: object[]; isManager: boolean; calls: number } = {
    ...{ nodes: [manager, node].map((one, at) => ({ ...one, id: `node${at + 1}` })) },
    ...{ networks: [], isManager: true, calls: 0 },
  }
  const other: Fake = {}
  const engineOf = (fake: Fake): Partial<Docker> => ({
    info: async () => {
      own.calls++
      if (fake.isAway) throw new Failure('engine_unreachable', 'Docker can’t be reached.', 'Wait.')
      const known = { version: '28.5.2', runc: '1.3.3', memoryBytes: 2 ** 31, folder: '/d' }
      return { ...known, time: new Date(), ...fake.info } as Info
    },
    rootSpace: async () => (fake.space === undefined ? space : fake.space),
  })
  const swarm = {
    swarmState: async () => ({ isManager: own.isManager }),
    listNodes: async () => own.nodes,
    listNetworks: async () => own.networks,
    getSwarm: async () => ({ lasts: 90 * day, root: loopback.cert }),
  }
  const docker = { ...engineOf(own), ...swarm } as unknown as Docker
  const connect = () => engineOf(other) as Docker
  const config = parseConfig({ DAVIT_DATA_DIR: dataDir, ...env })
  const find = () => checkServers(config, docker, { connect })
  return { ...{ db, own, other, find }, wrong: async () => namesOf(await find()) }
}

const namesOf = (found: Awaited<ReturnType<typeof checkServers>>) =>
  found.filter(({ todo }) => todo !== null).map(({ what }) => what)

test('two servers that are well have nothing to do, and one alone is asked nothing', async () => {
  const t = two()
  const found = await t.find()
  expect(namesOf(found)).toEqual([])
  expect(found.map(({ what }) => what)).toEqual([
    ...['server', 'clock', 'disk', 'quorum', 'certificates'],
  ])
  t.own.calls = 0
  for (const n of [1, 2]) deleteServer(t.db, serverId(n))
  expect(await t.find()).toEqual([])
  expect(t.own.calls).toBe(0)
})

test('clocks, versions, faults and disks of each server are compared', async () => {
  const t = two()
  t.other.info = { time: new Date(Date.now() - 600_000), version: '28.2.2', runc: '1.1.0' }
  t.other.space = { ...space, free: 1e6 }
  expect(await t.wrong()).toEqual([
    ...['faults', 'faults', 'faults', 'faults', 'clock', 'disk', 'versions'],
  ])
  t.other.space = null // no image there has the program
  t.other.info = {}
  expect(await t.wrong()).toEqual([])
})

test('a server that is away is a finding with when its certificate ends, and hides no other', async () => {
  const t = two()
  t.other.isAway = true
  updateServer(t.db, serverId(2), { lastSeenAt: new Date(Date.now() - day) })
  expect(await t.wrong()).toEqual(['server'])
  updateServer(t.db, serverId(2), { lastSeenAt: new Date(Date.now() - 91 * day) })
  expect(await t.wrong()).toEqual(['server', 'certificates'])
  updateServer(t.db, serverId(2), { privateKey: 'not sealed by this key' })
  expect(await t.wrong()).toEqual(['server', 'certificates'])
})

test('the quorum and the members are those of the swarm', async () => {
  const t = two()
  const [first, second] = t.own.nodes
  t.own.nodes = [first!]
  expect(await t.wrong()).toEqual(['swarm'])
  t.own.nodes = [first!, { ...second, isReady: false }]
  expect(await t.wrong()).toEqual(['swarm'])
  t.own.nodes = [first!, { ...second, ...manager }]
  expect(await t.wrong()).toEqual(['quorum'])
  t.own.nodes = [first!, { ...second, ...manager }, { ...manager, id: 'node3' }]
  expect(await t.wrong()).toEqual([])
  t.own.nodes = [first!, { ...second, ...manager }, { ...manager, id: '3', isReachable: false }]
  expect(await t.wrong()).toEqual(['quorum'])
  t.own.isManager = false // as after a restore on another machine
  expect(await t.wrong()).toEqual(['swarm'])
})

test('the way to other servers takes packets of 1500 bytes', () => {
  const sys = aFolder()
  mkdirSync(join(sys, 'lo'))
  writeFileSync(join(sys, 'lo/mtu'), '1500\n')
  expect(namesOf(checkMtu('127.0.0.1', { sys }))).toEqual([])
  writeFileSync(join(sys, 'lo/mtu'), '1420\n')
  expect(namesOf(checkMtu('127.0.0.1', { sys }))).toEqual(['mtu'])
  expect(checkMtu('198.51.100.1', { sys })).toEqual([])
})

test('faults across servers count only where there are several, and are documented', async () => {
  const versions = ['28.1.1', '28.2.2', '28.3.0', '29.0.0', '29.7.2', '29.7.3', '29.1.0+dfsg1']
  expect(versions.filter((version) => swarmFaults(version, 'two').length > 0)).toEqual([
    ...['28.2.2', '29.0.0', '29.7.2'],
  ])
  expect(judgeFaults({ version: '29.7.2', runc: null }).map(({ todo }) => todo)).toEqual([null])
  const page = await Bun.file(join(import.meta.dir, '../../assets/docs/maintenance.md')).text()
  for (const { source, fixedIn } of overlayFaults) {
    const row = page.split('\n').find((line) => line.includes(source))
    expect(row ?? source).toContain(` ${fixedIn} `)
  }
})

test('networks that were made before encryption was set are named', async () => {
  const t = two({ DAVIT_OVERLAY_ENCRYPTED: '1' })
  const [bridge, overlay] = [{ driver: 'bridge' }, { driver: 'overlay' }]
  t.own.networks = [
    { ...bridge, isEncrypted: false },
    { ...overlay, isEncrypted: true },
  ]
  expect(await t.wrong()).toEqual([])
  t.own.networks.push({ ...overlay, name: 'davit-1-swarm', isEncrypted: false })
  expect(await t.wrong()).toEqual(['encryption'])
})
