import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { buildExecutable } from '../support/executable.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'
import { unhurried } from './installed.ts'
import { deployed, deployedApp, loggedIn } from './visited-app.ts'

// What runs on a server without Davit, and after it was off: each test goes on where the one before ended.

setDefaultTimeout(300_000)

let server: SystemdMachine
let davit: string
let app: Awaited<ReturnType<typeof deployedApp>>
let service: Service
let written: string

type Service = { id: string; status: string; url: string }

/** Writes a line into its volume at each start, and serves all of them. */
const compose = `
services:
  web:
    image: busybox
    command: [sh, -c, 'date +%s%N >> /data/starts; exec httpd -f -p 80 -h /data']
    ports: ["80"]
    volumes: ["data:/data"]
    stop_grace_period: 1s
volumes:
  data: {}
`

beforeAll(async () => {
  server = await startSystemdMachine({ engine: true })
  davit = join(server.sharedInside, 'davit')
  await buildExecutable(join(server.shared, 'davit'))
  await server.must([davit, 'install', '--yes', '--host', '0.0.0.0'])
  const more = Object.entries({ DAVIT_ALLOW_LOCAL_REPOS: '1', ...unhurried })
  const lines = more.map((pair) => pair.join('=')).join('\\n')
  await server.must(['sh', '-c', `printf '${lines}\\n' >> /etc/davit/davit.env`])
  await install()
  app = await deployedApp(server)
  service = await app.davit.post<Service>('/services/compose', { name: 'counter', compose })
  await until(async () => (await serviceNow()).status === 'running', 120)
  service = await serviceNow()
  written = await visit(`${service.url}/starts`)
})

afterAll(() => server?.leave())

const install = () => server.must([davit, 'install', '--yes'])
const serviceNow = async () => (await loggedIn(server)).get<Service>(`/services/${service.id}`)

/** Of the server's own, since apps without a domain are published there only. */
async function visit(url: string) {
  const code = `const answer = await fetch(process.argv.at(-1)); console.log(answer.status + ' ' + await answer.text())`
  const env = { BUN_BE_BUN: '1' }
  return (await server.run([davit, '-e', code, url], { env })).output
}

const appServes = async () => (await visit(app.url)).startsWith('200 ')
/** With what it has written before. */
const serviceServes = async () => (await visit(`${service.url}/starts`)).startsWith(written)
const docker = async (...args: string[]) =>
  (await server.must(['docker', ...args])).split('\n').filter(Boolean)

test.each(['reboot', 'losePower'] as const)(
  'Davit, apps and services are back after the server has started again: %s',
  async (how) => {
    await server[how]()
    await until(async () => (await appServes()) && (await serviceServes()), 60)
    const ready = `http://${server.address}:3000/health/ready`
    await until(async () => (await fetch(ready).catch(() => null))?.ok === true, 60)
    expect((await serviceNow()).status).toBe('running')
    expect(await install()).toContain('Nothing to do')
  },
)

test('uninstalled, apps and services serve on, and how to find them is said', async () => {
  const output = await server.must(['davit', 'uninstall', '--yes'])
  expect(output).not.toContain('This deletes for good')
  const list = /^Apps and services run on: docker (ps .*)$/m.exec(output)![1]!
  expect(await docker(...list.split(' '), '--quiet')).toHaveLength(2)
  expect([await appServes(), await serviceServes()]).toEqual([true, true])

  expect(await install()).toContain('is installed, and runs.')
  expect((await serviceNow()).status).toBe('running')
  expect([await appServes(), await serviceServes()]).toEqual([true, true])
})

test('uninstalled with apps, those are gone with their volumes, and the data stays', async () => {
  const uninstall = ['davit', 'uninstall', '--apps']
  const dry = await server.must([...uninstall, '--dry-run'])
  expect(dry).toMatch(/^ +- 1 project \(app\): .*\n +- 1 service \(counter\): /m)
  expect(await serviceServes()).toBe(true)
  await server.must([...uninstall, '--yes'])
  expect(await docker('ps', '--all', '--quiet')).toEqual([])
  expect(await docker('volume', 'ls', '--quiet')).toEqual([])
  expect(await docker('images', '--quiet')).toHaveLength(1) // busybox, which isn’t Davit’s

  await install()
  const { items } = await (await loggedIn(server)).get<{ items: { name: string }[] }>('/projects')
  expect(items).toMatchObject([{ name: 'app' }])
})

test('uninstalled with its data, apps serve on under no one’s control, which is said before', async () => {
  app.url = (await deployed(await loggedIn(server), app.id)).url
  const output = await server.must(['davit', 'uninstall', '--yes', '--data'])
  expect(output).toMatch(/- control over 1 project \(app\) and 1 service \(counter\), which run on/)
  for (const path of ['/var/lib/davit', '/var/lib/davit-upgrade', '/etc/davit'])
    expect((await server.run(['test', '-e', path])).exitCode).toBe(1)
  expect(await appServes()).toBe(true)
})
