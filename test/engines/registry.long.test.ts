import { expect, test } from 'bun:test'
import { ensureEdgeImages, ensureRegistry } from '../support/machine.ts'
import { engines } from './engines.ts'
import { ensureRoot } from './root.ts'
import { engineFolder, formSwarm, startServers } from './servers.ts'
import type { Server } from './servers.ts'

// The scenes themselves are in registry.ts, which runs in the network of the first server.

test('images reach other servers by a registry, and without one', async () => {
  await ensureEdgeImages({ say: console.error })
  await ensureRegistry({ say: console.error })
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  const images = ['caddy:2', 'davit-test-pebble:latest']
  const config = { 'insecure-registries': ['198.19.0.0/24'] }
  await using all = await startServers(3, { root, images, config })
  const [first, second, third] = all.servers as [Server, Server, Server]
  await formSwarm(first, [second, third])
  const within = ['nsenter', '--target', first.inside[2]!, '--net', '--']
  const scenes = ['test', '--isolate', '--timeout', '300000', './test/engines/registry.ts']
  const run = Bun.spawn([...within, process.execPath, ...scenes], {
    env: { ...process.env, DOCKER_HOST: first.host, SECOND: second.host, THIRD: third.host },
    stdout: 'inherit',
    stderr: 'inherit',
  })
  expect(await run.exited).toBe(0)
}, 600_000)
