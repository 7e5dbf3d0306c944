import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { settingsOf, withSettings } from '../../src/server/environment-file.ts'
import { buildExecutable } from '../support/executable.ts'
import { run } from '../support/machine/command.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'
import { environmentFiles, values } from './environment-files.ts'

// A bare server from its first command to its last: each test goes on where the one before ended.

let server: SystemdMachine
let davit: string
let origin: string

beforeAll(async () => {
  server = await startSystemdMachine()
  origin = `http://${server.address}:3000`
  davit = join(server.sharedInside, 'davit')
  await buildExecutable(join(server.shared, 'davit'))
}, 600_000)

afterAll(() => server?.leave(), 60_000)

const isThere = async (path: string) => (await server.run(['test', '-e', path])).exitCode === 0

test('a settings file means to Davit what it means to systemd', async () => {
  const written = withSettings('', Object.fromEntries(values.map((value, at) => [`V${at}`, value])))
  const texts = [...environmentFiles.map(([text]) => text), written]
  for (const [at, text] of texts.entries()) await Bun.write(join(server.shared, `${at}.env`), text)
  const read = `for file in *.env; do
    systemd-run --quiet --pipe --wait --property=EnvironmentFile=$PWD/$file env -0 > $file.read
  done`
  await server.must(['sh', '-c', `cd ${server.sharedInside} && ${read}`])
  for (const [at, text] of texts.entries()) {
    const lines = (await Bun.file(join(server.shared, `${at}.env.read`)).text()).split('\0')
    const own = lines.filter((line) => /^[A-CV]\d*=/.test(line))
    const ofSystemd = own.map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)])
    expect(settingsOf(text), text).toEqual(Object.fromEntries(ofSystemd))
  }
})

test('a dry run says what is missing and each step, and changes nothing', async () => {
  const { exitCode, output } = await server.run([davit, 'install', '--dry-run'])
  expect(output).toMatch(/ok +system +Debian GNU\/Linux/)
  expect(output).toMatch(/ok +Docker +not installed yet/)
  expect(output).toContain('1. Install docker.io, git, openssh-client with apt-get')
  expect(output).toContain('8. Start Davit')
  expect(exitCode).toBe(0)
  for (const path of ['/usr/bin/git', '/usr/local/bin/davit', '/var/lib/davit', '/etc/davit'])
    expect(await isThere(path)).toBe(false)
})

test('without a terminal and --yes it changes nothing, and says so', async () => {
  const { exitCode, output } = await server.run([davit, 'install'])
  expect(exitCode).toBe(1)
  expect(output).toContain('Nothing was changed. Without a terminal, run it with --yes.')
  expect(await isThere('/etc/davit')).toBe(false)
})

const nobody = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']

test('who isn’t root is told so', async () => {
  const { exitCode, output } = await server.run([...nobody, davit, 'install', '--yes'])
  expect(exitCode).toBe(1)
  expect(output).toContain('davit: you aren’t root')
})

test('a machine without systemd is refused', async () => {
  const hide = `mount -t tmpfs none /run/systemd && exec ${davit} install --yes`
  const { exitCode, output } = await server.run(['unshare', '--mount', 'sh', '-c', hide])
  expect(exitCode).toBe(1)
  expect(output).toContain('Use a server with systemd, or run davit serve yourself')
})

test('a bad option is one line', async () => {
  const { exitCode, output } = await server.run([davit, 'install', '--domain', 'here', '--yes'])
  expect(exitCode).toBe(2)
  expect(output).toBe('davit: --domain must be a domain such as example.com')
  const none = await server.run([davit, 'install', '--port', '0', '--yes'])
  expect(none.output).toStartWith('davit: --port must be a port from 1 to 65535')
})

test('from a checkout, one command builds the executable and runs it', async () => {
  const { output } = await run(['npm', 'run', 'install:server', '--', '--dry-run'], {
    cwd: join(import.meta.dir, '../..'),
  })
  expect(output).toContain(`Davit ${manifest.version}, on this server:`)
})

test('killed while it installs packages, it finishes when it runs again', async () => {
  const script = `echo $$ > /tmp/pid; exec ${davit} install --yes --host 0.0.0.0`
  const killed = server.run(['sh', '-c', script])
  await until(() => isThere('/usr/bin/containerd'), 300)
  await server.must(['sh', '-c', 'kill -9 $(cat /tmp/pid)'])
  expect((await killed).exitCode).toBe(137)
  const { exitCode, output } = await server.run([davit, 'install', '--yes', '--host', '0.0.0.0'])
  expect(output).toContain(`Davit ${manifest.version} is installed, and runs.`)
  expect(exitCode).toBe(0)
}, 600_000)

test('what is installed runs as its own user, hardened, and responds', async () => {
  expect(await server.must(['systemctl', 'is-enabled', 'davit'])).toBe('enabled')
  const state = await server.must(['systemctl', 'show', 'davit', '-pUser', '-pWatchdogUSec'])
  expect(state.split('\n').toSorted()).toEqual(['User=davit', 'WatchdogUSec=1min 30s'])
  expect(await server.must(['stat', '-c', '%a %U', '/etc/davit/davit.env'])).toBe('600 root')
  expect(await server.must(['stat', '-c', '%a %U', '/var/lib/davit'])).toBe('700 davit')
  expect((await fetch(`${origin}/health/ready`)).status).toBe(200)
})

test('who isn’t root is told nothing else where Davit is installed', async () => {
  const { exitCode, output } = await server.run([...nobody, 'davit', 'install', '--yes'])
  expect(exitCode).toBe(1)
  expect(output.match(/^davit: .*/gm)).toEqual([expect.stringMatching(/^davit: you aren’t root/)])
})

test('again, it changes nothing, and shows the setup code of the first account', async () => {
  const { exitCode, output } = await server.run([davit, 'install', '--yes'])
  expect(exitCode).toBe(0)
  expect(output).toContain(`Nothing to do: Davit ${manifest.version} is installed and runs.`)
  const setupCode = /Setup code: +(\S+)/.exec(output)![1]!
  expect((await post('/auth/register', { ...ada, setupCode })).status).toBe(201)
  const later = await server.run([davit, 'install', '--yes'])
  expect(later.output).not.toContain('Setup code')
})

test('root runs its other commands with its settings, and leaves no file of root in its data', async () => {
  const doctor = await server.run(['davit', 'doctor'])
  expect(doctor.output).toContain('/var/lib/davit/data is for its owner only')
  expect(doctor.output).toContain('running, and responds at http://127.0.0.1:3000')
  await server.must(['davit', 'backup', '/root/davit.backup'])
  expect(await isThere('/root/davit.backup')).toBe(true)
  const reset = await server.must(['davit', 'user', 'reset-password', ada.email])
  const first = ada.password
  ada.password = /Password: (\S+)/.exec(reset)![1]!
  expect(await server.must(['find', '/var/lib/davit', '-user', 'root'])).toBe('')
  expect((await post('/auth/login', ada)).status).toBe(200)

  await server.must(['systemctl', 'stop', 'davit'])
  await server.must(['mv', '/var/lib/davit/data', '/root/data'])
  await server.must(['davit', 'restore', '/root/davit.backup'])
  await server.must(['systemctl', 'start', 'davit'])
  expect((await post('/auth/login', { ...ada, password: first })).status).toBe(200)
  ada.password = first
})

test('with another setting it is brought up to date, and says how', async () => {
  const options = ['--host', '0.0.0.0', '--port', '3001', '--yes']
  const { exitCode, output } = await server.run([davit, 'install', ...options])
  expect(output).toContain('Davit is installed and runs. To bring it up to date:')
  expect(output).toContain('DAVIT_PORT=3001')
  expect(output).toContain('is up to date, and runs.')
  expect(exitCode).toBe(0)
  expect((await fetch(`http://${server.address}:3001/health/ready`)).status).toBe(200)
  await server.must([davit, 'install', '--yes', '--port', '3000'])
})

test('uninstalled, it leaves its data, with which it is installed again', async () => {
  const dry = await server.must(['davit', 'uninstall', '--dry-run'])
  expect(dry).toContain('Nothing was changed')
  const output = await server.must(['davit', 'uninstall', '--yes'])
  expect(output).toContain('The data stays in /var/lib/davit')
  expect(await isThere('/usr/local/bin/davit')).toBe(false)
  expect(await isThere('/etc/systemd/system/davit.service')).toBe(false)
  expect(await fetch(`${origin}/health`).catch(() => null)).toBeNull()
  await server.must([davit, 'install', '--yes'])
  expect((await post('/auth/login', ada)).status).toBe(200) // the account from before is there
}, 300_000)

test('uninstalled with its data, nothing is left, and nothing is left to do', async () => {
  await server.must(['davit', 'uninstall', '--yes', '--data', '--apps'])
  for (const path of ['/var/lib/davit', '/etc/davit', '/usr/local/bin/davit'])
    expect(await isThere(path)).toBe(false)
  expect((await server.run(['id', 'davit'])).exitCode).not.toBe(0)
  expect(await server.must([davit, 'uninstall', '--yes'])).toContain('Nothing to do')
})

const ada = { email: 'ada@example.com', password: 'correct horse battery' }

async function post(path: string, body: object) {
  const page = await fetch(origin + path)
  const cookies = page.headers.getSetCookie().map((cookie) => cookie.split(';')[0]!)
  const token = cookies.find((cookie) => cookie.startsWith('svc_csrf='))!.split('=')[1]!
  const json = { Accept: 'application/json', 'Content-Type': 'application/json' }
  const headers = { ...json, Cookie: cookies.join('; '), 'X-CSRF-Token': token }
  return fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })
}
