import { expect, test } from 'bun:test'
import { until } from '../support/until.ts'
import { engines } from './engines.ts'
import { ensureRoot } from './root.ts'
import { ask, engineFolder, formSwarm, startServers } from './servers.ts'
import type { Server } from './servers.ts'

// What several servers build on: ordinary containers on an overlay of a Swarm, with Swarm's word on who
// is there. Its scheduler and its updater are not used.

const limit = 30 // seconds until a server that is gone counts as down

test('containers of three servers reach each other, and what is gone is told and comes back', async () => {
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  await using all = await startServers(3, { root })
  const [first, second, third] = all.servers as [Server, Server, Server]
  const ids = await formSwarm(first, [second, third])
  const network = {
    ...{ Name: 'app', Driver: 'overlay', Attachable: true },
    IPAM: { Config: [{ Subnet: '10.199.0.0/24' }] },
  }
  await ask(first, 'POST', '/networks/create', network)
  const addresses = ['10.199.0.11', '10.199.0.12', '10.199.0.13']
  for (const [n, server] of all.servers.entries()) await runThere(server, addresses[n]!)

  for (const address of addresses) expect(await reaches(first, address)).toBe(true)
  expect(await run(first, ['nslookup', third.name])).toContain(addresses[2]!)

  await third.crash()
  await until(async () => (await stateOf(first, ids[2]!)) === 'down', limit)
  expect(await reaches(first, addresses[1]!)).toBe(true)
  expect(await reaches(first, addresses[2]!)).toBe(false)
  await third.boot()
  await until(async () => (await stateOf(first, ids[2]!)) === 'ready', limit)
  await until(() => reaches(first, addresses[2]!), limit)

  await Promise.all([first.cut(second.peerAddress), second.cut(first.peerAddress)])
  await until(async () => (await stateOf(first, ids[1]!)) === 'down', limit)
  expect(await reaches(first, addresses[1]!)).toBe(false)
  expect(await isUp(second)).toBe(true)
  await Promise.all([first.mend(second.peerAddress), second.mend(first.peerAddress)])
  await until(async () => (await stateOf(first, ids[1]!)) === 'ready', limit)
  await until(() => reaches(first, addresses[1]!), limit)
}, 240_000)

async function stateOf(manager: Server, id: string) {
  const node = await ask<{ Status: { State: string } }>(manager, 'GET', `/nodes/${id}`)
  return node.Status.State
}

async function runThere(server: Server, address: string) {
  await ask(server, 'POST', `/containers/create?name=${server.name}`, {
    ...{ Image: 'busybox', Cmd: ['sleep', '9999'] },
    HostConfig: { NetworkMode: 'app', RestartPolicy: { Name: 'always' } },
    NetworkingConfig: { EndpointsConfig: { app: { IPAMConfig: { IPv4Address: address } } } },
  })
  await ask(server, 'POST', `/containers/${server.name}/start`)
}

async function isUp(server: Server) {
  const { State } = await ask<{ State: { Running: boolean } }>(
    server,
    'GET',
    `/containers/${server.name}/json`,
  )
  return State.Running
}

const reaches = async (server: Server, address: string) =>
  (await run(server, ['ping', '-c', '1', '-W', '2', address])).includes('1 packets received')

/** The output of a program in the container there. */
async function run(server: Server, Cmd: string[]) {
  const exec = { AttachStdout: true, AttachStderr: true, Tty: true, Cmd }
  const { Id } = await ask<{ Id: string }>(server, 'POST', `/containers/${server.name}/exec`, exec)
  return ask<string>(server, 'POST', `/exec/${Id}/start`, { Tty: true })
}
