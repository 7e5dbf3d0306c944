import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import manifest from '../package.json' with { type: 'json' }
import { bareEnvironment, startDavit } from './support/davit.ts'
import { buildExecutable } from './support/executable.ts'
import { listenForStates } from './support/notify-socket.ts'
import { until } from './support/until.ts'

let work: string
let davit: string

/** A directory whose `.env` and `bunfig.toml` would stop any Bun that reads them. */
let hostile: string

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'davit-executable-'))
  davit = join(work, 'davit')
  hostile = join(work, 'hostile')
  await Bun.write(join(hostile, '.env'), 'DAVIT_HOST=no.host.invalid\nDAVIT_DATA_DIR=/dev/null\n')
  await Bun.write(join(hostile, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
  await Bun.write(join(hostile, 'preload.ts'), 'process.exit(42)\n')
  await buildExecutable(davit)
}, 120_000)

afterAll(() => rm(work, { recursive: true }))

test('the executable shows its version', async () => {
  expect(await run(['--version'])).toMatchObject({ exitCode: 0, stderr: '' })
  expect((await run(['--version'])).stdout).toContain(manifest.version)
})

test('the executable shows what it can do', async () => {
  const { exitCode, stdout } = await run(['--help'])
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^ +serve /m)
})

test('a bad setting is one line that names the key', async () => {
  const { exitCode, stderr } = await run(['serve'], { DAVIT_PORT: 'http' })
  expect(exitCode).toBe(2)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  expect(stderr).toContain('DAVIT_PORT')
})

test('a subcommand that does not exist is refused', async () => {
  const { exitCode, stderr } = await run(['sevre'])
  expect(exitCode).toBe(2)
  expect(stderr).toContain('sevre')
})

test('the executable serves from a directory that holds nothing of it', async () => {
  const notify = join(work, 'notify')
  const systemd = listenForStates(notify)
  const env = { NOTIFY_SOCKET: notify }
  const server = await startDavit({ directory: work, command: [davit], cwd: hostile, env })
  try {
    await until(() => systemd.states().includes('READY=1'))
    expect((await fetch(`${server.url}/health`)).status).toBe(200)
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
    expect(await (await fetch(`${server.url}/docs/settings`)).text()).toContain('DAVIT_DATA_DIR')
    expect(await (await fetch(`${server.url}/docs?q=port`)).text()).toContain('<mark>')

    const page = await (await fetch(`${server.url}/auth/register`)).text()
    const assets = [...page.matchAll(/"(\/static\/[^"]+)"/g)].map(([, path]) => path)
    expect(assets).not.toBeEmpty()
    for (const path of assets) expect((await fetch(server.url + path)).status).toBe(200)
    expect(await readdir(join(hostile, 'data'))).not.toBeEmpty()
    const ada = await register(server.url)
    const { templates } = await ada('/services')
    expect(templates.map(({ template }: { template: string }) => template)).toContain('postgresql')
    const compose = 'services: {web: {image: "nginx:${TAG:-1}"}}'
    const { variables } = await ada('/services/compose/configure', { compose }) // read by a worker
    expect(variables).toMatchObject([{ name: 'TAG' }])
  } finally {
    const asked = performance.now()
    expect(await server.stop()).toBe(0)
    expect(performance.now() - asked).toBeLessThan(10_000)
    systemd.close()
  }
})

/** Makes the first account; what it asks for comes as JSON, and a body is posted. */
async function register(url: string) {
  const cookies = new Map<string, string>()
  const ask = async (path: string, body?: object): Promise<any> => {
    const Cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json', Cookie }
    const token = { 'X-CSRF-Token': cookies.get('svc_csrf') ?? '' }
    const post = { method: 'POST', body: JSON.stringify(body) }
    const answer = await fetch(url + path, { ...(body && post), headers: { ...headers, ...token } })
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    return answer.json()
  }
  await ask('/auth/register')
  await ask('/auth/register', { email: 'ada@example.com', password: 'correct horse battery' })
  return ask
}

async function run(args: string[], env: Record<string, string> = {}) {
  const child = Bun.spawn([davit, ...args], {
    cwd: hostile,
    env: { ...bareEnvironment(), ...env },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()])
  return { exitCode: await child.exited, stdout, stderr }
}
