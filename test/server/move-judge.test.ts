import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../src/db/index.ts'
import { version } from '../../src/platform/root.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { movedSettings, settingFiles, settingsLeft } from '../../src/server/move/settings.ts'
import type { Facts } from '../../src/server/move/facts.ts'
import { judgeMove } from '../../src/server/move/judge.ts'
import { layoutIn } from '../../src/server/layout.ts'
import { readMove, writeMove } from '../../src/server/move/journal.ts'
import type { Received, Sent } from '../../src/server/move/journal.ts'
import type { Found, Needs } from '../../src/server/move/messages.ts'
import { planMove } from '../../src/server/move/plan.ts'
import type { Remote } from '../../src/server/move/remote.ts'
import { leftToFinish } from '../../src/server/move/undo.ts'
import { anEnvironment } from '../logs/collecting.ts'
import { simulatedApp, withAda } from '../support/app.ts'
import { runDavit } from '../support/run-davit.ts'
import { aFolder } from '../support/folder.ts'
import { storeServers } from '../support/servers.ts'

const aLayout = () => layoutIn(aFolder())

test('a new server that can’t take the old one is refused, with the reason', () => {
  const fine: Facts = {
    ...{ version, arch: process.arch, engine: '28.5' },
    ...{ userNamespace: null, hasContainerdStore: false, occupied: null, copyFrom: null },
    ...{ replaced: 0, sent: 0, taken: [], missing: [] },
    disks: {
      docker: { folder: '/var/lib/docker', free: 2 ** 34, disk: 1 },
      data: { folder: '/var/lib/davit', free: 2 ** 33, disk: 2 },
      moves: { folder: '/var/lib/davit-move', free: 2 ** 33, disk: 2 },
    },
  }
  const needs = {
    ...{ host: 'new', version, arch: process.arch, instanceId: 'one', ports: [], repository: null },
    volumes: 0,
    images: 2 ** 20,
    data: 2 ** 20,
    userNamespace: null,
    hasContainerdStore: false,
    files: [{ setting: 'DAVIT_ACME_CA', path: '/etc/ca.pem' }],
  }
  const reasons = (facts: Partial<Facts>) =>
    judgeMove({ ...fine, ...facts }, needs).flatMap(({ is, blocks }) => (blocks ? is : []))
  expect(reasons({})).toEqual([])
  expect(reasons({ version: '9.9.9' })).toEqual([`new has version 9.9.9, this server ${version}`])
  expect(reasons({ arch: 'sparc' })).toEqual([`new is sparc, this server ${process.arch}`])
  expect(reasons({ userNamespace: '100000.100000' })[0]).toStartWith('the two servers map users')
  expect(reasons({ hasContainerdStore: true })[0]).toStartWith('only the Docker on new keeps')
  expect(reasons({ occupied: 'it has the user ada' })).toEqual([
    'new isn’t empty: it has the user ada',
  ])
  expect(reasons({ taken: ['port 80 is taken by nginx'] })).toEqual([
    'on new, port 80 is taken by nginx',
  ])
  const full = (name: keyof Facts['disks'], disk: number) => ({
    disks: { ...fine.disks, [name]: { folder: '/x', free: 5, disk } },
  })
  for (const [name, disk] of [
    ['docker', 1],
    ['data', 3],
    ['moves', 3],
  ] as const)
    expect(reasons(full(name, disk))[0]).toStartWith('/x of new has only 5 B free')
  expect(reasons({ missing: ['/etc/ca.pem'] })).toEqual([
    'DAVIT_ACME_CA is /etc/ca.pem, which isn’t on new',
  ])
  // what an earlier copy takes is free before the next one comes
  expect(reasons({ ...full('docker', 1), replaced: 2 ** 34 })).toEqual([])
  // what shares a disk is counted together
  const disks = (free: number, ...on: number[]) => {
    const [docker, data, moves] = on.map((disk) => ({ folder: '/', free, disk }))
    return { docker: docker!, data: data!, moves: moves! }
  }
  expect(reasons({ disks: disks(520 * 2 ** 20, 1, 1, 1) })).toHaveLength(1)
  expect(reasons({ disks: disks(520 * 2 ** 20, 1, 2, 3) })).toEqual([])
  // volumes are there twice for a while; those of an earlier try needn't be sent again
  const large = { ...needs, volumes: 2 ** 30 }
  const both = { ...fine, disks: disks(2 ** 31, 1, 1, 1) }
  const isBlocked = (facts: Facts) => judgeMove(facts, large).some(({ blocks }) => blocks)
  expect([isBlocked(both), isBlocked({ ...both, sent: 2 ** 30 })]).toEqual([true, false])
})

/** A server that is to move, and what a plan for that says and asks of the new one. */
function anOldServer() {
  const layout = aLayout()
  const dataDir = aFolder()
  mkdirSync(dirname(layout.settings), { recursive: true })
  const set = (more = '') => writeFileSync(layout.settings, `DAVIT_DATA_DIR=${dataDir}\n${more}`)
  set()
  const secrets = new Secrets('x'.repeat(32))
  const db = openDatabase(join(dataDir, 'davit.db'))
  const app = simulatedApp({}, { db, secrets, jobsWait: true })
  onTestFinished(() => db.$client.close())
  const found: Found = { findings: [], missing: [], copyFrom: null, addresses: [] }
  const asked: Needs[] = []
  const ask = async ({ needs }: { needs: Needs }) => (asked.push(needs), found)
  const remote = { ask } as unknown as Remote
  const destination = { host: 'root@new', port: null, identity: null }
  const choice = { volumes: 'all', without: [] }
  const plan = () => planMove({ layout, destination, choice, remote })
  const portsAsked = async () => (await plan(), asked.at(-1)!.ports)
  return { db, app, set, plan, portsAsked }
}

test('a server isn’t moved while it has others, which two Davits would manage then', async () => {
  const { db, plan } = anOldServer()
  const blocking = async () =>
    (await plan()).found.findings.filter(({ blocks }) => blocks).map(({ what }) => what)
  expect(await blocking()).toEqual([])
  storeServers(db, [{}, {}])
  expect(await blocking()).toEqual(['servers'])
})

test('the new server needs the ports of Caddy, also where only the domain of an app does', async () => {
  const { app, set, portsAsked } = anOldServer()
  expect(await portsAsked()).toEqual([])
  const { t, ada } = withAda(app)
  const { id } = await anEnvironment(t, ada)
  expect((await ada.post(`/envs/${id}/domains`, { host: 'a.test' })).status).toBe(201)
  expect(await portsAsked()).toEqual([80, 443])
  set('DAVIT_EDGE_PORTS=8080,8443')
  expect(await portsAsked()).toEqual([8080, 8443])
  set('DAVIT_EDGE=external\nDAVIT_EDGE_ADMIN=http://127.0.0.1:2019')
  expect(await portsAsked()).toEqual([])
})

test('settings of one machine don’t move to another', () => {
  const own = {
    DAVIT_HOST: '1.2.3.4',
    DAVIT_PORT: '80',
    DAVIT_DATA_DIR: '/x',
    DAVIT_CLUSTER_ADDRESS: '10.0.0.1',
    DOCKER_HOST: 'unix:///x',
  }
  const moved = { DAVIT_DOMAIN: 'example.com', DAVIT_SECRET_KEY: 'x'.repeat(32) }
  expect(movedSettings({ ...own, ...moved, DAVIT_PUBLISH_ADDRESS: '1.2.3.4' })).toEqual(moved)
  expect(movedSettings({ DAVIT_PUBLISH_ADDRESS: '0.0.0.0' })).not.toEqual({})
})

test('files that settings name must be there first', () => {
  const settings = {
    ...{ DAVIT_ACME_CA: '/etc/ca.pem', DAVIT_EDGE_ADMIN: 'http://localhost:2019' },
    ...{ DAVIT_TEMPLATES_DIR: '/srv/templates', DAVIT_DATA_DIR: '/var/lib/davit' },
  }
  const admin = { DAVIT_EDGE_ADMIN: 'unix:///run/caddy.sock' }
  expect(settingFiles(admin)).toEqual([])
  expect(settingFiles({ ...admin, DAVIT_EDGE: 'external' })).toEqual([
    { setting: 'DAVIT_EDGE_ADMIN', path: '/run/caddy.sock' },
  ])
  expect(settingFiles(settings)).toEqual([
    { setting: 'DAVIT_ACME_CA', path: '/etc/ca.pem' },
    { setting: 'DAVIT_TEMPLATES_DIR', path: '/srv/templates' },
  ])
})

test('settings that aren’t Davit’s are listed as left out', () => {
  const settings = {
    ...{ HTTP_PROXY: 'http://proxy', TZ: 'UTC', DAVIT_DOMAIN: 'example.com', DAVIT_PORT: '80' },
    ...{ DAVIT_PUBLISH_ADDRESS: '192.0.2.1', DAVIT_URL: 'a\nb' },
  }
  expect(movedSettings(settings)).toEqual({ DAVIT_DOMAIN: 'example.com' })
  expect(settingsLeft(settings)).toEqual(['HTTP_PROXY', 'TZ', 'DAVIT_PUBLISH_ADDRESS', 'DAVIT_URL'])
})

test('a journal keeps a long settings file, and nothing is written that couldn’t be read', () => {
  const layout = aLayout()
  const settings = `# ${'long '.repeat(20_000)}\n`
  const of = { moveId: 'x', from: 'old', at: 1, instanceId: 'y', repository: 'z' }
  const received: Received = { ...of, phase: 'receiving', settings }
  writeMove(layout, 'received', received)
  expect(readMove(layout, 'received')).toEqual(received)
  const tooLong = { ...received, settings: settings.repeat(11) }
  expect(() => writeMove(layout, 'received', tooLong)).toThrow()
  expect(readMove(layout, 'received')).toEqual(received)
})

test('a dry run says what an interrupted move would have finished first, and changes nothing', () => {
  const layout = aLayout()
  expect(leftToFinish(layout)).toEqual([])
  const of = { moveId: 'x', host: 'root@new', port: null, identity: null, at: 1, stopped: [] }
  const says = (phase: Sent['phase']) => {
    writeMove(layout, 'sent', { ...of, phase })
    return leftToFinish(layout).join('\n')
  }
  expect(says('copying')).toContain('this server is put back')
  expect(says('deciding')).toContain('is asked whether it took over')
  expect(() => says('moved')).toThrow('This server was moved to')
  expect(readMove(layout, 'sent')).toEqual({ ...of, phase: 'moved' })
})

test('an undoing has no dry run, so it isn’t begun', async () => {
  const { status, stderr } = await runDavit(['move', '--undo', '--dry-run'])
  expect(status).toBe(2)
  expect(stderr).toContain('usage: davit move')
})
