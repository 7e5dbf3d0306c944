import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeAll } from '../faults/small-disk.ts'
import { ensureEdgeImages } from '../support/machine.ts'
import { startSshServer } from '../support/ssh-server.ts'
import { engines } from './engines.ts'
import type { Host } from './fault-host.ts'
import { ensureRoot } from './root.ts'
import { engineFolder, formSwarm, startServers } from './servers.ts'
import type { Server } from './servers.ts'
import { untimed } from './three-servers.ts'

// What befalls the servers is done here; the scenes are in faults.ts, which runs in the network of the first
// one, as Davit does, and asks for it over a socket.

/** An sshd whose key opens its engine. */
async function sshOf({ peerAddress, address, inside, host }: Server, folder: string) {
  const listens = '0.0.0.0'
  const ssh = await startSshServer({ address, listens, inside, env: { DOCKER_HOST: host } })
  const file = join(folder, peerAddress)
  Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file], { stdin: null })
  const line = `restrict,command="docker system dial-stdio" ${readFileSync(`${file}.pub`, 'utf8')}`
  ssh.allow(line)
  const scan = ['ssh-keyscan', '-t', 'ed25519', '-p', String(ssh.port), address]
  const [, , hostKey] = Bun.spawnSync(scan, { stdin: null }).stdout.toString().split(/\s+/)
  const own: Omit<Host, 'nodeId'> = {
    engine: host,
    address: peerAddress,
    ssh: `ssh://root@${peerAddress}:${ssh.port}`,
    hostKey: hostKey!,
    privateKey: readFileSync(file, 'utf8'),
  }
  return {
    ...{ ssh, own },
    refuse() {
      ssh.allow('')
      ssh.cut()
    },
    accept: () => ssh.allow(line),
  }
}

test('apps answer again after what befalls servers', async () => {
  await ensureEdgeImages({ say: console.error })
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  const images = ['caddy:2', 'davit-test-pebble:latest']
  await using all = await startServers(3, { root, images, diskMb: 3000 })
  const { servers } = all
  const [first, ...others] = servers as [Server, Server, Server]
  const nodeIds = await formSwarm(first, others)
  const folder = mkdtempSync(join(tmpdir(), 'davit-faults-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const logins = await Promise.all(others.map((server) => sshOf(server, folder)))
  onTestFinished(() => void Promise.all(logins.map(({ ssh }) => ssh.stop().catch(() => {}))))

  const serverOf = (n: string) => servers[Number(n) - 1]!
  const loginOf = (n: string) => logins[Number(n) - 2]!
  const fillerOf = (n: string) => join(serverOf(n).dataRoot, 'filler')
  const between = (a: string, b: string, verb: 'cut' | 'mend') =>
    Promise.all([
      serverOf(a)[verb](serverOf(b).peerAddress),
      serverOf(b)[verb](serverOf(a).peerAddress),
    ])
  const faults: Record<string, (...n: string[]) => unknown> = {
    crash: (n) => serverOf(n!).crash(),
    async boot(n) {
      await serverOf(n!).boot()
      await loginOf(n!).ssh.startAgain(serverOf(n!))
    },
    kill: (n) => serverOf(n!).kill(),
    start: (n) => serverOf(n!).startAgain(),
    fill: (n) => takeAll(fillerOf(n!)),
    free: (n) => rmSync(fillerOf(n!), { force: true }),
    cut: (a, b) => between(a!, b!, 'cut'),
    mend: (a, b) => between(a!, b!, 'mend'),
    refuse: (n) => loginOf(n!).refuse(),
    accept: (n) => loginOf(n!).accept(),
  }
  /** What ends each fault that may last. */
  const ends: Record<string, string> = {
    ...{ crash: 'boot', kill: 'start', fill: 'free', cut: 'mend', refuse: 'accept' },
  }
  const lasting = new Map<string, string[]>()
  const befall = async (name: string, numbers: string[]) => {
    await faults[name]!(...numbers)
    if (ends[name]) lasting.set([ends[name], ...numbers].join('/'), [ends[name], ...numbers])
    lasting.delete([name, ...numbers].join('/'))
  }
  faults.restore = async () => {
    for (const [name, ...numbers] of lasting.values()) await befall(name!, numbers)
  }
  const socket = join(folder, 'faults.sock')
  const control = Bun.serve({
    unix: socket,
    ...untimed,
    async fetch({ url }) {
      const [name, ...numbers] = new URL(url).pathname.split('/').slice(1)
      await befall(name!, numbers)
      return new Response()
    },
  })
  onTestFinished(() => control.stop(true))

  const hosts: Host[] = [
    { ...logins[0]!.own, ...{ engine: first.host, address: first.peerAddress } },
    ...logins.map(({ own }) => own),
  ].map((own, at) => ({ ...own, nodeId: nodeIds[at]! }))
  const within = ['nsenter', '--target', first.inside[2]!, '--net', '--']
  const scenes = ['test', '--isolate', '--timeout', '400000', './test/engines/faults.ts']
  const named = process.env.FAULT ? ['-t', process.env.FAULT] : []
  const run = Bun.spawn([...within, process.execPath, ...scenes, ...named], {
    env: { ...process.env, DOCKER_HOST: first.host, HOSTS: JSON.stringify(hosts), FAULTS: socket },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  expect(await run.exited).toBe(0)
}, 1_800_000)
