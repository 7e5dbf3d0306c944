import { afterAll, beforeAll, expect, test } from 'bun:test'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DavitClient } from '../demo/client.ts'
import { sha256Of } from '../release/make.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'
import { installedServer } from './installed.ts'
import { buildVersions } from './versions.ts'

// A server with Davit, and one that joins it by its command: each test goes on where the one before ended.

let home: SystemdMachine
let next: SystemdMachine
let root: DavitClient
let origin: string
let davit: string

beforeAll(async () => {
  const of = { engine: true, suite: 'trixie' } as const
  ;[home, next] = await Promise.all([startSystemdMachine(of), startSystemdMachine(of)])
  await buildVersions(home.shared, ['0.1.0', '0.2.0'])
  await copyFile(join(home.shared, 'davit-0.1.0'), join(next.shared, 'davit'))
  davit = join(next.sharedInside, 'davit')
  await next.must(['systemctl', 'enable', '--now', 'ssh'])
  await Promise.all([home, next].map((one) => one.must(['systemctl', 'start', 'docker'])))
  origin = `http://${home.address}:3000`
  await installedServer(home).install('0.1.0', { DAVIT_CLUSTER_ADDRESS: home.address })
  const code = await home.must(['cat', '/var/lib/davit/data/setup-code'])
  root = new DavitClient({ url: origin, signal: new AbortController().signal })
  const email = 'root@example.com'
  await root.enter('/auth/register', { email, password, setupCode: code.trim() })
}, 900_000)

const password = 'a passphrase that root knows'

afterAll(() => Promise.all([home?.leave(), next?.leave()]), 60_000)

type Server = { id: string; name: string; state: string; address: string; roles: string[] }

const servers = async () => (await root.get<{ items: Server[] }>('/settings/servers')).items

const codeFor = async (name: string, more: object = {}) =>
  (await root.post<{ code: string }>('/settings/servers', { name, ...more })).code

const joining = (code: string, ...options: string[]) =>
  next.run([davit, 'join', origin, code, '--insecure', ...options])

const written = [
  '/etc/davit/joined.json',
  '/var/lib/davit/.ssh/authorized_keys',
  '/usr/local/lib/davit/firewall',
  '/etc/systemd/system/davit-firewall.service',
  '/usr/local/bin/davit',
]

const isThere = async (path: string) => (await next.run(['test', '-e', path])).exitCode === 0

async function expectUntouched() {
  for (const path of [...written, '/var/lib/davit']) expect(await isThere(path)).toBe(false)
  expect((await next.run(['id', 'davit'])).exitCode).not.toBe(0)
  expect(await next.must(['iptables-save'])).not.toContain('DAVIT')
  expect(await swarmOf(next)).toBe('inactive')
}

const swarmOf = (machine: SystemdMachine) =>
  machine.must(['docker', 'info', '--format', '{{.Swarm.LocalNodeState}}'])

test('a dry run lists checks and steps, changes nothing, and uses no code up', async () => {
  const code = await codeFor('two')
  for (let run = 0; run < 2; run++) {
    const { exitCode, output } = await joining(code, '--dry-run')
    expect([exitCode, output]).toEqual([0, expect.stringContaining('Join as two')])
    expect(output).toMatch(/ok +Docker +2\d\./)
    expect(output).toMatch(new RegExp(`ok +address +${next.address}`))
    expect(output).toMatch(/ok +ports/)
  }
  await expectUntouched()
}, 120_000)

test('a wrong code, an address without HTTPS and a firewall are refused, and nothing is left', async () => {
  const wrong = await joining('AAAA-AAAA-AAAA-AAAA', '--yes')
  expect([wrong.exitCode, wrong.output]).toEqual([1, expect.stringContaining('code')])
  const plain = await next.run([davit, 'join', origin, 'AAAA-AAAA-AAAA-AAAA', '--yes'])
  expect([plain.exitCode, plain.output]).toEqual([2, expect.stringContaining('HTTPS')])

  const rule = ['-p', 'udp', '--dport', '4789', '-s', home.address, '-j', 'DROP']
  await next.must(['iptables', '-t', 'raw', '-A', 'PREROUTING', ...rule])
  const closed = await joining(await codeFor('two'), '--yes')
  expect(closed.output).toContain('4789')
  expect(closed.exitCode).toBe(1)
  await next.must(['iptables', '-t', 'raw', '-D', 'PREROUTING', ...rule])
  await expectUntouched()
  expect(await servers()).toEqual([])
}, 240_000)

test('killed in between, it finishes when it runs again, or is undone', async () => {
  const script = `echo $$ > /tmp/pid; exec ${davit} join ${origin} ${await codeFor('two')} --insecure --yes`
  const killed = next.run(['sh', '-c', script])
  await until(() => isThere('/var/lib/davit/.ssh/authorized_keys'), 60)
  await next.must(['sh', '-c', 'kill -9 $(cat /tmp/pid)'])
  expect((await killed).exitCode).toBe(137)
  const { exitCode, output } = await next.run([davit, 'leave', '--yes'])
  expect([exitCode, output]).toEqual([0, expect.stringContaining('has left')])
  await expectUntouched()
}, 240_000)

test('one command joins it; then Davit uses its Docker, and only Davit’s key gets in', async () => {
  const code = await codeFor('two', { labels: { zone: 'east' }, roles: ['apps'] })
  const { exitCode, output } = await joining(code, '--yes')
  expect([exitCode, output]).toEqual([0, expect.stringContaining('is two of')])
  for (const path of written) expect(await isThere(path)).toBe(true)
  await until(async () => (await servers())[0]?.state === 'ready', 60)
  expect(await servers()).toMatchObject([
    { name: 'two', address: next.address, labels: { zone: 'east' } },
    { roles: ['apps', 'builds', 'edge'] },
  ])
  expect(await swarmOf(next)).toBe('active')
  const keys = await next.must(['cat', '/var/lib/davit/.ssh/authorized_keys'])
  expect(keys).toStartWith(
    `from="${home.address}",restrict,command="docker system dial-stdio" ssh-ed25519 `,
  )
  const again = await joining(code, '--yes')
  expect([again.exitCode, again.output]).toEqual([0, expect.stringContaining('Nothing to do')])
}, 240_000)

test('an upgrade of Davit keeps its servers, and reaches them at once', async () => {
  const server = installedServer(home)
  const sum = await sha256Of(join(home.shared, 'davit-0.2.0'))
  const { exitCode, output } = await server.upgrade('0.2.0', ['--sha256', sum])
  expect([exitCode, output]).toEqual([0, expect.any(String)])
  expect(await server.state()).toMatchObject({ version: '0.2.0', leftOver: [] })
  await until(async () => (await servers())[0]?.state === 'ready', 60)
  expect(await swarmOf(next)).toBe('active')
}, 240_000)

test('its firewall is there again after a restart of Docker, and after someone flushed it', async () => {
  const jump = '-A DOCKER-USER -j DAVIT-FORWARD'
  const isClosed = async () => {
    const rules = await next.must(['iptables-save', '-t', 'filter'])
    return (
      rules.includes(jump) && rules.includes(`-A DAVIT-MEMBERS -s ${home.address}/32 -j RETURN`)
    )
  }
  expect(await isClosed()).toBe(true)
  await next.must(['systemctl', 'restart', 'docker'])
  await until(isClosed, 30)
  await next.must(['iptables', '-F', 'DOCKER-USER'])
  await until(isClosed, 30)
  await next.must(['systemctl', 'stop', 'davit-firewall'])
  expect(await isClosed()).toBe(true)
  await next.must(['systemctl', 'start', 'davit-firewall'])
}, 120_000)

test('it leaves after it was removed in Davit, and nothing of it is left', async () => {
  const early = await next.run(['davit', 'leave', '--yes'])
  expect([early.exitCode, early.output]).toEqual([1, expect.stringContaining('Remove it there')])
  const [two] = await servers()
  await root.delete(`/settings/servers/${two!.id}`)
  const dry = await next.run(['davit', 'leave', '--dry-run'])
  expect([dry.exitCode, dry.output]).toEqual([0, expect.stringContaining('Remove the user davit')])
  expect(await isThere('/etc/davit/joined.json')).toBe(true)
  const { exitCode, output } = await next.run(['davit', 'leave', '--yes'])
  expect([exitCode, output]).toEqual([0, expect.stringContaining('has left')])
  await expectUntouched()
  expect(await swarmOf(home)).toBe('inactive')
  expect((await next.run([davit, 'leave', '--yes'])).output).toContain('Nothing to do')
}, 240_000)
