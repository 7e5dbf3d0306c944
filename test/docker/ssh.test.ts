import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SshAgent } from '../../src/docker/ssh-agent.ts'
import { runDavit } from '../support/run-davit.ts'
import { startSshServer } from '../support/ssh-server.ts'
import type { SshServer } from '../support/ssh-server.ts'
import { sandbox } from './sandbox.ts'
import { aFolder } from '../support/folder.ts'

const { run } = sandbox()

let server: SshServer
beforeAll(async () => void (server = await startSshServer()))
afterAll(() => server.stop())

/** A home whose user has a key that the server lets in, and knows the server’s. */
function aHome() {
  const home = aFolder()
  const folder = join(home, '.ssh')
  mkdirSync(folder, { mode: 0o700 })
  const key = join(folder, 'id_ed25519')
  Bun.spawnSync(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', key], { stdin: null })
  server.allow(readFileSync(`${key}.pub`, 'utf8').trim())
  const scan = ['ssh-keyscan', '-p', String(server.port), '127.0.0.1']
  writeFileSync(join(folder, 'known_hosts'), Bun.spawnSync(scan, { stdin: null }).stdout)
  return home
}

test('the health check of a container is run behind sshd too', async () => {
  const id = await run('sleep 60')
  const script = `
    import { connectDocker } from '${join(import.meta.dir, '../../src/docker/index.ts')}'
    const docker = connectDocker({ host: '${server.urlOf('')}' })
    const test = { command: ['sh', '-c', 'echo well; exit 0'], timeout: 20_000 }
    const options = { test, timeout: 20_000, signal: new AbortController().signal }
    console.log(JSON.stringify(await docker.untilHealthTestPasses('${id}', options)))
    process.exit(0)`
  const env = { ...process.env, HOME: aHome() }
  const child = Bun.spawn([process.execPath, '-e', script], { env, stdout: 'pipe' })
  expect(await child.stdout.text()).toContain('{"exitCode":0,"output":"well\\n","passed":true}')
})

test('an engine behind sshd is asked, until another host answers in its place', async () => {
  const home = aHome()
  const env = { HOME: home, DOCKER_HOST: server.urlOf(''), DAVIT_DATA_DIR: join(home, 'data') }
  const engineLine = async () =>
    (await runDavit(['doctor'], { env })).stdout.match(/.*engine .*/)![0]
  expect(await engineLine()).toMatch(/^ok +engine +Docker \d+/)
  await server.changeHostKey()
  expect(await engineLine()).toMatch(/^to do +engine .*can’t be reached/)
})

test.each([
  ['the only server has time to recover', undefined, 30],
  ['one of several is away', { privateKey: 'k', hostKey: 'h' }, 12],
])('when a connection is silent, %s', (_, login, seconds) => {
  let alive = { keepaliveInterval: 0, keepaliveCountMax: 0 }
  const connected = Promise.withResolvers<void>()
  const agent = new SshAgent(
    { kind: 'ssh', text: 'ssh://h', host: 'h', port: 22, username: null, login },
    (options) => {
      alive = options as typeof alive
      return {
        createConnection: (_, opened) => opened(new Error('no'), connected.resolve() as never),
      }
    },
  )
  agent.createConnection({}, () => {})
  return connected.promise.then(() =>
    expect(alive.keepaliveInterval * (alive.keepaliveCountMax + 1)).toBe(seconds * 1000),
  )
})
