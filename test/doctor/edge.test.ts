import { expect, onTestFinished, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfig } from '../../src/config.ts'
import { lockDataDir } from '../../src/db/instance-lock.ts'
import { openDatabase } from '../../src/db/index.ts'
import { openInstallation } from '../../src/db/installation.ts'
import { Secrets } from '../../src/platform/secrets.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { checkEdge, checkProxies } from '../../src/doctor/edge.ts'
import { notePath } from '../../src/edge/note.ts'
import { aFolder } from '../support/folder.ts'

const docker = connectDocker({ host: process.env.DOCKER_HOST })

/** Where this test listens, so that no Caddy can. */
const taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })

function found(env: Record<string, string>) {
  const dataDir = aFolder()
  const config = parseConfig({ DAVIT_DATA_DIR: dataDir, ...env })
  return { dataDir, config, look: () => checkEdge(config, docker) }
}

const ports = { DAVIT_EDGE_PORTS: `${taken.port},1` }

test('it is off where the settings say so', async () => {
  const [finding] = await found({ DAVIT_EDGE: 'direct' }).look()
  expect(finding).toMatchObject({ todo: null, is: expect.stringContaining('off') })
})

test('it isn’t quite off while an app’s port is still Caddy’s', async () => {
  const { dataDir, look } = found({ DAVIT_EDGE: 'direct' })
  const db = openDatabase(join(dataDir, 'davit.db'))
  openInstallation(db, new Secrets('a secret of the tests, 32 bytes long'))
  const { $client } = db
  for (const row of [
    "users (id, email, role, created_at) VALUES ('u', 'u', 'admin', 0)",
    "projects (id, owner_id, name, repository_url, webhook_secret, created_at) VALUES ('p', 'u', 'p', '', '', 0)",
    "environments (id, project_id, name, host_port, created_at) VALUES ('e', 'p', 'e', 20000, 0)",
    "workloads (id, environment_id) VALUES ('e', 'e')",
    "releases (id, workload_id, edge, created_at) VALUES ('r', 'e', true, 0)",
  ])
    $client.run(`INSERT INTO ${row}`)
  $client.run("UPDATE workloads SET live_release_id = 'r'")
  const [finding] = await look()
  expect(finding).toMatchObject({ is: expect.stringContaining('still'), todo: expect.any(String) })
  $client.run('UPDATE releases SET edge = false')
  expect((await look())[0]!.todo).toBeNull()
  $client.close()
})

test('a port that is taken is no fault while no domain needs it, and one with its program after that', async () => {
  const free = await found({ DAVIT_EDGE: 'auto', ...ports }).look()
  expect(free).toMatchObject([{ todo: null, is: expect.stringContaining('no domain needs it') }])
  const needed = await found({ DAVIT_EDGE: 'auto', DAVIT_DOMAIN: 'davit.test', ...ports }).look()
  expect(needed[0]!.is).toMatch(new RegExp(`bun\\S* \\(process \\d+\\) .*${taken.port}`))
  expect(needed[0]!.todo).toContain('DAVIT_EDGE=external')
})

test('what a Davit that runs can’t serve is said', async () => {
  const { dataDir, look } = found({ DAVIT_EDGE: 'auto', ...ports })
  mkdirSync(join(dataDir, 'edge'))
  const troubles = [{ message: 'Caddy refused it.', hint: 'Change it.' }]
  writeFileSync(notePath(join(dataDir, 'edge')), JSON.stringify({ mode: 'caddy', troubles }))
  expect((await look())[0]!.is).not.toContain('refused') // of one that has ended
  const lock = lockDataDir(dataDir)
  onTestFinished(() => lock.close())
  expect(await look()).toEqual([{ what: 'edge', is: 'Caddy refused it.', todo: 'Change it.' }])
})

test('a Caddy of the user’s own that doesn’t answer is a fault', async () => {
  const { look } = found({ DAVIT_EDGE: 'external', DAVIT_EDGE_ADMIN: '/nowhere/admin.sock' })
  await expect(look()).rejects.toMatchObject({ code: 'edge_unreachable' })
})

test('a proxy that isn’t trusted is named with the setting, while Davit runs', () => {
  const { dataDir, config } = found({})
  mkdirSync(join(dataDir, 'edge'))
  const forwarders = ['a.test', 'b.test'].map((host) => ({ host, address: '198.51.100.7' }))
  writeFileSync(
    notePath(join(dataDir, 'edge')),
    JSON.stringify({ mode: 'caddy', troubles: [], forwarders }),
  )
  expect(checkProxies(config)).toEqual([])
  const lock = lockDataDir(dataDir)
  onTestFinished(() => lock.close())
  expect(checkProxies(config)).toMatchObject([
    {
      is: expect.stringContaining('198.51.100.7'),
      todo: expect.stringContaining('DAVIT_TRUSTED_PROXIES'),
    },
  ])
})
