import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureEdgeImages } from '../support/machine.ts'
import { engines } from './engines.ts'
import { ensureRoot } from './root.ts'
import { engineFolder, formSwarm, startServers } from './servers.ts'
import type { Server } from './servers.ts'

/** A server may take longer to start than a request may by default; Bun’s types lack this on a socket. */
export const untimed: object = { idleTimeout: 0 }

/**
 * Runs the scenes of a file in the network of the first of three servers, as Davit runs; at `POWER` they
 * can crash another server, and boot it: `POST /crash/2`.
 */
export async function onThreeServers(scenes: string, more: Record<string, string> = {}) {
  await ensureEdgeImages({ say: console.error })
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  await using all = await startServers(3, { root, images: ['caddy:2', 'davit-test-pebble:latest'] })
  const [first, second, third] = all.servers as [Server, Server, Server]
  await formSwarm(first, [second, third])
  const folder = await mkdtemp(join(tmpdir(), 'davit-power-'))
  const unix = join(folder, 'power.sock')
  const power = Bun.serve({
    unix,
    ...untimed,
    async fetch({ url }) {
      const [, verb, n] = new URL(url).pathname.split('/')
      await all.servers[Number(n) - 1]![verb as 'crash' | 'boot']()
      return new Response()
    },
  })
  const within = ['nsenter', '--target', first.inside[2]!, '--net', '--']
  const run = ['test', '--isolate', '--timeout', '300000', scenes]
  const hosts = { DOCKER_HOST: first.host, SECOND: second.host, THIRD: third.host, POWER: unix }
  const child = Bun.spawn([...within, process.execPath, ...run], {
    env: {
      ...process.env,
      ...hosts,
      ...more,
      MACHINE: process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock',
    },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  const exitCode = await child.exited
  await power.stop(true)
  await rm(folder, { recursive: true })
  if (exitCode !== 0) throw new Error(`${scenes} failed, as it says above`)
}
