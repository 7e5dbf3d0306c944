/* Davit with real engines that join it over ssh, one after the other; prints its memory and processor with each. */
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { insertUser } from '../../src/accounts/store.ts'
import { createApp } from '../../src/app.tsx'
import { assemble } from '../../src/assemble.ts'
import { parseConfig } from '../../src/config.ts'
import { watchContainers } from '../../src/containers/crash-loop.ts'
import { sampleUsage } from '../../src/containers/usage/sampler.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { resume } from '../../src/serve.ts'
import { listServers } from '../../src/servers/store.ts'
import { engines } from '../engines/engines.ts'
import { ensureRoot } from '../engines/root.ts'
import { engineFolder, startServers } from '../engines/servers.ts'
import type { Server } from '../engines/servers.ts'
import { TestClient } from '../support/client.ts'
import { startSshServer } from '../support/ssh-server.ts'
import { until } from '../support/until.ts'

/** Milliseconds before a measurement, and of one. */
const settleTime = 10_000
const restTime = 30_000

async function sshOf({ peerAddress, address, inside, host }: Server, folder: string) {
  const ssh = await startSshServer({ address, inside, env: { DOCKER_HOST: host } })
  const file = join(folder, peerAddress)
  Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file], { stdin: null })
  const key = readFileSync(`${file}.pub`, 'utf8')
  ssh.allow(`restrict,command="docker system dial-stdio" ${key}`)
  const scan = ['ssh-keyscan', '-t', 'ed25519', '-p', String(ssh.port), address]
  const [, type, hostKey] = Bun.spawnSync(scan, { stdin: null }).stdout.toString().split(/\s+/)
  const login = { sshUser: 'root', sshPort: ssh.port, sshKey: readFileSync(file, 'utf8') }
  return { address: peerAddress, ...login, hostKey: `${type} ${hostKey}` }
}

const folder = mkdtempSync(join(tmpdir(), 'davit-bench-joined-'))
const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
await using all = await startServers(3, { root })
const [own, ...others] = all.servers as [Server, Server, Server]
// this process is on a network of its own: what Davit's server sees at one address, it sees at another
const at = new Map(others.map(({ peerAddress, address }) => [peerAddress, address]))
const deps = assemble(
  parseConfig({
    ...{ DAVIT_DATA_DIR: folder, DAVIT_EDGE: 'direct', DAVIT_CLUSTER_ADDRESS: own.peerAddress },
  }),
  {
    ...{ docker: connectDocker({ host: own.host }), setupCode: null },
    connectServer: ({ host = '', ...options } = {}) =>
      connectDocker({ ...options, host: host.replace(/198[\d.]+/, (peer) => at.get(peer)!) }),
  },
)
const ada = { email: 'ada@example.com', name: null, passwordHash: null, role: 'admin' } as const
const client = new TestClient(deps, createApp(deps), insertUser(deps.db, ada))
const { signal } = new AbortController()
void Promise.all([
  ...resume(deps, { signal }),
  watchContainers(deps, { signal }),
  deps.collector.run({ signal }),
  sampleUsage(deps, { signal }),
])

async function measure() {
  await Bun.sleep(settleTime)
  Bun.gc(true)
  const before = process.cpuUsage()
  await Bun.sleep(restTime)
  const { user, system } = process.cpuUsage(before)
  Bun.gc(true)
  return {
    memory: process.memoryUsage().rss / 2 ** 20,
    processor: (user + system) / (restTime * 10),
  }
}

const figures = [await measure()]
for (const [n, server] of others.entries()) {
  const body = await sshOf(server, folder)
  const { status, text } = await client.post('/settings/servers', { name: `other${n}`, ...body })
  if (status !== 201) throw new Error(`A server can't join: ${text}`)
  await until(() => listServers(deps.db).every(({ state }) => state === 'ready'))
  figures.push(await measure())
}
process.stdout.write(JSON.stringify(figures))
await all[Symbol.asyncDispose]()
process.exit(0)
