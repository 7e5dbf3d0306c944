import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectDocker } from '../../src/docker/index.ts'
import { resume } from '../../src/serve.ts'
import { listServers } from '../../src/servers/store.ts'
import { engines } from '../engines/engines.ts'
import { ensureRoot } from '../engines/root.ts'
import { engineFolder, startServers } from '../engines/servers.ts'
import type { Server } from '../engines/servers.ts'
import { testApp } from '../support/app.ts'
import { startSshServer } from '../support/ssh-server.ts'
import { until } from '../support/until.ts'

const limit = 60 // seconds until a server that is gone counts as away

/** An sshd on a server, whose key opens its engine. */
async function sshOf({ peerAddress, address, inside, host }: Server) {
  const ssh = await startSshServer({ address, inside, env: { DOCKER_HOST: host } })
  const folder = mkdtempSync(join(tmpdir(), 'davit-key-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'key')
  Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', file], { stdin: null })
  const line = `restrict,command="docker system dial-stdio" ${readFileSync(`${file}.pub`, 'utf8')}`
  ssh.allow(line)
  const scan = ['ssh-keyscan', '-t', 'ed25519', '-p', String(ssh.port), address]
  const [, type, key] = Bun.spawnSync(scan, { stdin: null }).stdout.toString().split(/\s+/)
  const form = { sshUser: 'root', sshPort: ssh.port, sshKey: readFileSync(file, 'utf8') }
  return {
    body: { address: peerAddress, ...form, hostKey: `${type} ${key}` },
    at: address,
    refuse() {
      ssh.allow('')
      ssh.cut()
    },
    accept: () => ssh.allow(line),
    [Symbol.asyncDispose]: () => ssh.stop().catch(() => {}), // it is gone with its server
  }
}

test('servers join and leave for real; one whose ssh refuses is away until it doesn’t', async () => {
  const root = await ensureRoot(engines.at(-1)!, { folder: engineFolder, say: console.error })
  await using all = await startServers(3, { root })
  const [own, second, third] = all.servers as [Server, Server, Server]
  await using seconds = await sshOf(second)
  await using thirds = await sshOf(third)
  // the test is on a network of its own: what Davit's server sees at one address, it sees at another
  const at = new Map([seconds, thirds].map(({ body, at }) => [body.address, at]))
  const t = testApp(
    { DAVIT_CLUSTER_ADDRESS: own.peerAddress },
    {
      docker: connectDocker({ host: own.host }),
      connectServer: ({ host = '', ...options } = {}) =>
        connectDocker({
          ...options,
          host: host.replace(/198[\d.]+/, (peer) => at.get(peer) ?? seconds.at),
        }),
    },
  )
  const admin = t.logInAsAdmin()
  const stop = new AbortController()
  const background = resume(t.deps, { signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await Promise.allSettled(background)
  })
  const add = (name: string, body: object) => admin.post('/settings/servers', { name, ...body })
  const statesNow = () => listServers(t.db).map(({ name, state }) => `${name} ${state}`)

  const impostor = await add('two', { ...seconds.body, hostKey: thirds.body.hostKey })
  expect(impostor.json.errors).toMatchObject([{ field: 'hostKey' }])
  const stranger = await add('two', { ...seconds.body, sshKey: thirds.body.sshKey })
  expect(stranger.json.errors).toMatchObject([{ field: 'sshKey' }])
  expect((await t.docker.swarmState()).isMember).toBe(false)

  const two = await add('two', seconds.body)
  expect(two).toMatchObject({ status: 201, json: { name: 'two' } })
  const three = await add('three', thirds.body)
  expect(three.status).toBe(201)
  await until(() => statesNow().join() === 'server1 ready,two ready,three ready', limit)
  const docker = t.engines.of({ serverId: two.json.id })
  expect((await docker.swarmState()).isMember).toBe(true)
  const again = await add('four', { ...seconds.body, address: '198.19.0.99' })
  expect(again.status).toBe(422)

  thirds.refuse()
  await until(() => statesNow().at(-1) === 'three away', limit)
  expect((await admin.get('/containers')).status).toBe(200)
  thirds.accept()
  await until(() => statesNow().at(-1) === 'three ready', limit)

  await docker.createVolume({ name: 'kept', labels: { 'davit.instance': t.instanceId } })
  const kept = await admin.delete(`/settings/servers/${two.json.id}`)
  expect(kept).toMatchObject({ status: 409 })
  expect(kept.text).toContain('kept')
  await docker.removeVolume('kept')
  await third.crash()
  await until(() => statesNow().at(-1) === 'three away', limit)
  for (const { json } of [two, three])
    expect((await admin.delete(`/settings/servers/${json.id}`)).status).toBe(200)
  expect(statesNow()).toEqual([])
  expect((await docker.swarmState()).isMember).toBe(false)
  expect((await t.docker.swarmState()).isMember).toBe(false)
}, 400_000)
