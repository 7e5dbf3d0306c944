import { afterAll, beforeAll, expect, test } from 'bun:test'
import { dirname, join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }
import { startingAsBefore } from '../../src/server/install.ts'
import { buildExecutable } from '../support/executable.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'
import { buildVersions } from './versions.ts'

// A server that has Docker, git and ssh: each test begins and ends without Davit.

let server: SystemdMachine
let davit: string

beforeAll(async () => {
  server = await startSystemdMachine({ engine: true })
  davit = join(server.sharedInside, 'davit')
  await buildExecutable(join(server.shared, 'davit'))
}, 600_000)

afterAll(() => server?.leave(), 60_000)

/** Kills an installation, and nothing that it started, when it begins with a step. */
const killAt = `
"$@" 2>&1 | while read -r line; do
  case "$line" in
    "[$step/"*) kill -9 $(cat /tmp/installing); echo killed; exit ;;
  esac
done
`

const uninstall = () => server.must([davit, 'uninstall', '--yes', '--data', '--apps'])
const isThere = async (path: string) => (await server.run(['test', '-e', path])).exitCode === 0

test('killed at any step, it finishes when it runs again', async () => {
  const dry = await server.must([davit, 'install', '--dry-run'])
  const steps = dry.match(/^ +\d+\. /gm)!.length
  expect(steps).toBe(6)
  for (let step = 1; step <= steps; step++) {
    const script = `echo $$ > /tmp/installing; exec ${davit} install --yes`
    const command = ['sh', '-c', killAt, 'kill-at', 'sh', '-c', script]
    const env = { step: String(step) }
    expect(await server.must(command, { env })).toContain('killed')
    const again = await server.run([davit, 'install', '--yes'])
    expect(again.output, `after step ${step}`).toMatch(/installed,? and runs\./)
    expect(await server.must(['systemctl', 'is-active', 'davit'])).toBe('active')
    expect(await server.must([davit, 'install', '--yes'])).toContain('Nothing to do')
    await uninstall()
  }
}, 600_000)

test('a start that fails is explained, and undone', async () => {
  await server.must([davit, 'install', '--yes'])
  await server.must(['davit', 'uninstall', '--yes'])
  await server.must(['sh', '-c', 'echo damaged > /var/lib/davit/data/davit.db'])
  const { exitCode, output } = await server.run([davit, 'install', '--yes'])
  expect(exitCode).toBe(1)
  expect(output).toMatch(
    /davit: Davit didn’t start: .*davit\.db.* Fix that, then run davit install again/,
  )
  expect(await isThere('/usr/local/bin/davit')).toBe(false)
  expect(await isThere('/etc/systemd/system/davit.service')).toBe(false)
  expect((await server.run(['systemctl', 'is-active', 'davit'])).output).toBe('inactive')
  await server.must(['rm', '-r', '/var/lib/davit/data'])
  expect(await server.must([davit, 'install', '--yes'])).toContain('is installed, and runs.')
  await uninstall()
}, 300_000)

test('a change that keeps it from starting is undone, and it runs on as before', async () => {
  await server.must([davit, 'install', '--yes'])
  const { exitCode, output } = await server.run([
    davit,
    'install',
    '--yes',
    '--host',
    '203.0.113.1',
  ])
  expect(exitCode).toBe(1)
  expect(output).toContain('can’t listen on 203.0.113.1 port 3000')
  expect(output).toContain(startingAsBefore)
  expect(await server.must(['systemctl', 'is-active', 'davit'])).toBe('active')
  expect(await server.must([davit, 'install', '--yes'])).toContain('Nothing to do')
  await uninstall()
}, 300_000)

test('over an older version it upgrades that, and over a newer one it changes nothing', async () => {
  await buildVersions(server.shared, ['0.2.0'])
  const newer = join(server.sharedInside, 'davit-0.2.0')
  await server.must([davit, 'install', '--yes'])
  const output = await server.must([newer, 'install', '--yes'])
  const first = `1. Upgrade Davit ${manifest.version} to 0.2.0 by davit upgrade\n     - Back its data`
  expect(output).toContain(first)
  expect(output).not.toMatch(/^ +2\. /m)
  expect(output).toContain('Davit 0.2.0 is up to date, and runs.')
  expect(await server.must(['davit', '--version'])).toBe('0.2.0')
  expect(await server.must([newer, 'install', '--yes'])).toContain('Nothing to do')

  const older = await server.run([davit, 'install', '--yes'])
  expect(older.exitCode).toBe(1)
  expect(older.output).toContain('0.2.0')
  expect(older.output).not.toContain(startingAsBefore) // it was never stopped
  expect(await server.must(['davit', '--version'])).toBe('0.2.0')
  expect(await server.must(['systemctl', 'is-active', 'davit'])).toBe('active')
  await uninstall()
}, 300_000)

test('one that is stopped is upgraded in the same way, and runs from then on', async () => {
  const newer = join(server.sharedInside, 'davit-0.2.0')
  await server.must([davit, 'install', '--yes'])
  await server.must(['systemctl', 'disable', '--now', 'davit'])
  const output = await server.must([newer, 'install', '--yes'])
  expect(output).toContain(`1. Upgrade Davit ${manifest.version} to 0.2.0 by davit upgrade`)
  expect(await server.must(['davit', '--version'])).toBe('0.2.0')
  expect(await server.must(['systemctl', 'is-active', 'davit'])).toBe('active')
  expect(await server.must(['systemctl', 'is-enabled', 'davit'])).toBe('enabled')

  await server.must(['systemctl', 'stop', 'davit'])
  const older = await server.run([davit, 'install', '--yes'])
  expect(older.output).toContain('0.2.0')
  expect(await server.must(['davit', '--version'])).toBe('0.2.0')
  await uninstall()
}, 300_000)

test('it starts once what keeps it from starting is over, but is left alone with bad settings', async () => {
  await server.must([davit, 'install', '--yes'])
  const shown = (name: string) =>
    server.must(['systemctl', 'show', `--property=${name}`, '--value', 'davit'])
  await server.must(['systemctl', 'stop', 'davit'])
  const listen = ['systemd-socket-activate', '--listen=127.0.0.1:3000', 'cat']
  await server.must(['systemd-run', '--unit=squatter', ...listen])
  await server.run(['systemctl', 'start', 'davit'])
  await until(async () => Number(await shown('NRestarts')) >= 2, 60)
  await server.must(['systemctl', 'stop', 'squatter'])
  await until(async () => (await shown('ActiveState')) === 'active', 60)

  await server.must(['sh', '-c', 'echo DAVIT_PORT=none >> /etc/davit/davit.env'])
  await server.run(['systemctl', 'restart', 'davit'])
  await until(async () => (await shown('ActiveState')) === 'failed', 30)
  expect(await shown('NRestarts')).toBe('0')
  await uninstall()
}, 300_000)

test('ended by a signal, it undoes what it began', async () => {
  const slow = '/etc/systemd/system/davit.service.d/slow.conf' // so that the signal comes in time
  const lines = '[Service]\\nExecStartPre=/bin/sleep 300\\n'
  await server.must(['sh', '-c', `mkdir -p ${dirname(slow)} && printf '${lines}' > ${slow}`])
  const script = `echo $$ > /tmp/installing; exec ${davit} install --yes`
  const ended = server.run(['sh', '-c', script])
  await until(() => isThere('/etc/systemd/system/davit.service'))
  const other = await server.run([davit, 'uninstall', '--yes'])
  expect(other.output).toContain('Another davit install or davit uninstall is running.')
  await server.must([davit, 'uninstall', '--dry-run'])
  await server.must(['sh', '-c', 'kill -TERM $(cat /tmp/installing)'])
  const { exitCode, output } = await ended
  expect(exitCode).toBe(1)
  expect(output).toContain('Interrupted by SIGTERM. Run davit install again to finish.')
  expect(await isThere('/etc/systemd/system/davit.service')).toBe(false)
  await server.must(['rm', '-r', dirname(slow)])
  await uninstall()
}, 300_000)

test('a port that is taken is refused, with who has it; Davit’s own Caddy isn’t in the way', async () => {
  const listen = ['systemd-socket-activate', '--listen=80', 'cat']
  await server.must(['systemd-run', '--unit=squatter', ...listen])
  const domain = ['install', '--yes', '--domain', 'davit.example.com']
  const refused = await server.run([davit, ...domain])
  expect(refused.exitCode).toBe(1)
  expect(refused.output).toMatch(
    /^davit: port 80 is taken by systemd-socket- \(process \d+\)\. Stop it/m,
  )
  expect(await isThere('/usr/local/bin/davit')).toBe(false)
  await server.must(['systemctl', 'stop', 'squatter'])

  await server.loadImage('caddy:2')
  const output = await server.must([davit, ...domain])
  expect(output).toContain('Address:     https://davit.example.com')
  expect(output).toMatch(/Setup code: +\S+/)
  expect(output).toContain('Open ports:  80/tcp, 443/tcp')
  const edge = ['docker', 'ps', '--quiet', '--filter', 'label=davit.kind=edge']
  await until(async () => (await server.must(edge)) !== '', 60)
  expect(await server.must([davit, ...domain])).toContain('Nothing to do')
  await server.must(['davit', 'uninstall', '--yes'])
  expect(await server.must(edge)).not.toBe('') // it serves apps on
  expect(await server.must([davit, ...domain])).toContain('is installed, and runs.')
  await uninstall()
  expect(await server.must(edge)).toBe('')
  expect(await server.must(['docker', 'volume', 'ls', '--quiet'])).toBe('')
}, 300_000)
