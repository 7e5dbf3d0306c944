import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { engines } from '../engines/engines.ts'
import { ensureRoot } from '../engines/root.ts'
import { ask, engineFolder, startServers } from '../engines/servers.ts'
import type { Server } from '../engines/servers.ts'
import { DavitClient } from '../demo/client.ts'
import { buildExecutable } from '../support/executable.ts'
import { until } from '../support/until.ts'
import { aMachineRoot } from './machine-root.ts'

type Row = { id: string; name: string; state: string; address: string }

/** Davit, in the network of a server. */
async function davitOn(server: Server, folder: string, executable: string) {
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, DOCKER_HOST: server.host },
    ...{ DAVIT_DATA_DIR: join(folder, 'data'), DAVIT_HOST: '0.0.0.0', DAVIT_PORT: '3000' },
    ...{ DAVIT_CLUSTER_ADDRESS: server.peerAddress, DAVIT_REGISTRATION: 'open' },
    ...{ DAVIT_RATE_LIMIT: '100000', DAVIT_RATE_BURST: '100000' },
  }
  const child = Bun.spawn([...server.inside, executable, 'serve'], { env, stdout: 'ignore' })
  const url = `http://${server.address}:3000`
  await until(async () => (await fetch(`${url}/health`).catch(() => null))?.ok ?? false, 60)
  const root = new DavitClient({ url, signal: new AbortController().signal })
  const setupCode = (await Bun.file(join(folder, 'data/setup-code')).text()).trim()
  const password = 'a passphrase that root knows'
  await root.enter('/auth/register', { email: 'root@example.com', password, setupCode })
  return {
    root,
    origin: `http://${server.peerAddress}:3000`,
    servers: async () => (await root.get<{ items: Row[] }>('/settings/servers')).items,
    codeFor: async (name: string, more: object = {}) =>
      (await root.post<{ code: string }>('/settings/servers', { name, ...more })).code,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await child.exited
    },
  }
}

const written = [
  '/etc/davit/joined.json',
  '/var/lib/davit/.ssh/authorized_keys',
  '/usr/local/lib/davit/firewall',
  '/etc/systemd/system/davit-firewall.service',
  '/usr/local/bin/davit',
]

test('one command makes a machine a server, and one undoes it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'davit-command-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const davit = join(folder, 'davit')
  await buildExecutable(davit)
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  await using all = await startServers(2, { root })
  const [own, second] = all.servers as [Server, Server]
  await using home = await davitOn(own, folder, davit)
  await using machine = await aMachineRoot(second)
  const joining = (code: string, ...options: string[]) =>
    machine.run([davit, 'join', home.origin, code, '--insecure', ...options])
  const isThere = async (path: string) => (await machine.run(['test', '-e', path])).exitCode === 0
  const isMember = async () =>
    (await ask<{ Swarm: { LocalNodeState: string } }>(second, 'GET', '/info')).Swarm
      .LocalNodeState === 'active'
  const expectUntouched = async () => {
    for (const path of [...written, '/var/lib/davit'])
      expect([path, await isThere(path)]).toEqual([path, false])
    expect((await machine.run(['id', 'davit'])).exitCode).not.toBe(0)
    expect((await machine.run(['iptables-save'])).output).not.toContain('DAVIT')
    expect([await isMember(), await home.servers()]).toEqual([false, []])
  }

  // a dry run shows, and uses no code up
  const code = await home.codeFor('two', { labels: { zone: 'east' } })
  const dry = await joining(code, '--dry-run')
  expect([dry.exitCode, dry.output]).toEqual([0, expect.stringContaining('Join as two')])
  expect(dry.output).toContain(second.peerAddress)
  const wrong = await joining('AAAA-AAAA-AAAA-AAAA', '--yes')
  expect(wrong.exitCode).toBe(1)
  await expectUntouched()

  // a port that stays closed undoes all
  const drop = ['-p', 'udp', '--dport', '4789', '-s', own.peerAddress, '-j', 'DROP']
  await machine.run(['iptables', '-t', 'raw', '-A', 'PREROUTING', ...drop])
  const closed = await joining(code, '--yes')
  expect([closed.exitCode, closed.output]).toEqual([1, expect.stringContaining('4789 (UDP)')])
  await machine.run(['iptables', '-t', 'raw', '-D', 'PREROUTING', ...drop])
  await expectUntouched()

  // it joins by the same code, which then is used
  const joined = await joining(code, '--yes')
  expect([joined.exitCode, joined.output]).toEqual([0, expect.stringContaining('is two of')])
  for (const path of written) expect([path, await isThere(path)]).toEqual([path, true])
  await until(async () => (await home.servers())[0]?.state === 'ready', 60)
  const [two] = await home.servers()
  expect(two).toMatchObject({ name: 'two', address: second.peerAddress })
  expect(await isMember()).toBe(true)
  expect((await joining(code, '--yes')).output).toContain('Nothing to do')
  const keys = (await machine.run(['cat', written[1]!])).output
  expect(keys).toStartWith(`from="${own.peerAddress}",restrict,command="docker system dial-stdio" `)

  // its ports for apps are for members
  const members = () => machine.run(['iptables', '-S', 'DAVIT-MEMBERS'])
  expect((await members()).output).toContain(`-s ${own.peerAddress}/32 -j RETURN`)
  const ports = { '80/tcp': [{ HostIp: second.peerAddress, HostPort: '25000' }] }
  await ask(second, 'POST', '/containers/create?name=web', {
    ...{ Image: 'busybox', Cmd: ['httpd', '-f', '-p', '80'], ExposedPorts: { '80/tcp': {} } },
    HostConfig: { PortBindings: ports },
  })
  await ask(second, 'POST', '/containers/web/start')
  const stranger = own.peerAddress.replace(/\d+$/, '99')
  Bun.spawnSync([...own.inside, 'ip', 'address', 'add', `${stranger}/24`, 'dev', 'eth1'])
  const dial = ['--silent', '--max-time', '3', `http://${second.peerAddress}:25000/`]
  const reaches = (from: string) =>
    Bun.spawnSync([...own.inside, 'curl', '--interface', from, ...dial]).exitCode === 0
  await until(async () => reaches(own.peerAddress), 30)
  expect(reaches(stranger)).toBe(false)
  await ask(second, 'DELETE', '/containers/web?force=1')

  // it leaves once it is removed in Davit
  const early = await machine.run(['davit', 'leave', '--yes'])
  expect([early.exitCode, early.output]).toEqual([1, expect.stringContaining('Remove it there')])
  await home.root.delete(`/settings/servers/${two!.id}`)
  const left = await machine.run(['davit', 'leave', '--yes'])
  expect([left.exitCode, left.output]).toEqual([0, expect.stringContaining('has left')])
  await expectUntouched()
}, 900_000)
