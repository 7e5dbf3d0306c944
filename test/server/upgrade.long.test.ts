import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { must } from '../release/executables.ts'
import { sha256Of } from '../release/make.ts'
import { startSystemdMachine } from '../support/systemd-machine.ts'
import type { SystemdMachine } from '../support/systemd-machine.ts'
import { until } from '../support/until.ts'
import { installedServer } from './installed.ts'
import { buildVersions, target } from './versions.ts'
import { visitedApp } from './visited-app.ts'

setDefaultTimeout(300_000)

let machine: SystemdMachine
let server: ReturnType<typeof installedServer>
let app: Awaited<ReturnType<typeof visitedApp>>
let releases: Bun.Server<undefined>

/** What the old version and its data must be like after whatever was refused or undone. */
const asBefore = { version: '0.1.0', hasLater: false, leftOver: [] }

beforeAll(async () => {
  machine = await startSystemdMachine({ engine: true })
  const { shared } = machine
  await buildVersions(shared, ['0.1.0', '0.2.0', '0.3.0', '0.4.0', '0.5.0'])
  await buildScript('hangs', 'setInterval(() => {}, 1000)')
  await buildScript('crashes', 'throw new Error("no")')
  await Bun.write(
    join(shared, 'release.json'),
    JSON.stringify({ version: '0.2.0', files: { [target]: 'davit-0.2.0' } }),
  )
  const names = (await readdir(shared)).filter((name) => name.startsWith('davit-'))
  const sums = names.map(async (name) => `${await sha256Of(join(shared, name))}  ${name}\n`)
  await Bun.write(join(shared, 'SHA256SUMS'), (await Promise.all(sums)).join(''))
  releases = Bun.serve({
    port: 0,
    hostname: '0.0.0.0',
    fetch: ({ url }) => new Response(Bun.file(join(shared, new URL(url).pathname))),
  })
  server = installedServer(machine)
  const here = machine.address.replace(/\d+$/, '1')
  await server.install('0.1.0', {
    DAVIT_ALLOW_HOSTS: here,
    DAVIT_ALLOW_LOCAL_REPOS: '1',
    DAVIT_PUBLISH_ADDRESS: machine.address,
    DAVIT_RELEASES: `http://${here}:${releases.port}/release.json`,
  })
  app = await visitedApp(machine)
}, 900_000)

afterAll(async () => {
  await releases?.stop(true)
  await machine?.leave()
})

/** An executable that isn't a Davit. */
async function buildScript(name: string, code: string) {
  const script = join(machine.shared, `${name}.ts`)
  await Bun.write(script, code)
  const outfile = join(machine.shared, `davit-${name}`)
  await must([process.execPath, 'build', '--compile', '--outfile', outfile, script])
}

test('a file that is of no use is refused before anything is touched', async () => {
  const { must, sharedInside: at } = machine
  const other = `${at}/davit-other`
  await must(['cp', server.file('0.2.0'), other])
  await must(['dd', 'if=/dev/zero', `of=${other}`, 'bs=1', 'seek=4096', 'count=8', 'conv=notrunc'])
  await must(['cp', server.file('0.2.0'), `${at}/davit-cut`])
  await must(['truncate', '--size=-1', `${at}/davit-cut`])
  const cases: [string, string[], string][] = [
    ['none', [], `There is no file ${at}/davit-none.`],
    ['other', [], 'isn’t the one in SHA256SUMS'],
    ['cut', [], 'was cut short'],
    ['0.2.0', ['--sha256', '0'.repeat(64)], 'not 0000'],
    ['crashes', [], 'crashes: it ended with status 1'],
    ['hangs', [], 'hangs: it didn’t say its version within 20 seconds'],
    ['0.1.0', [], 'Davit 0.1.0 runs already'],
  ]
  const pid = await must(['systemctl', 'show', '--property=MainPID', '--value', 'davit'])
  for (const [name, options, words] of cases)
    expect((await server.upgrade(name, options)).output).toContain(words)
  expect(await must(['systemctl', 'show', '--property=MainPID', '--value', 'davit'])).toBe(pid)
  expect(await server.state()).toEqual(asBefore)
})

test('without root, or without space, nothing is touched', async () => {
  const asDavit = ['runuser', '-u', 'davit', '--', 'davit', 'upgrade', server.file('0.2.0')]
  expect((await machine.run(asDavit)).output).toContain('Only root can upgrade Davit.')
  const full = '/var/lib/davit-upgrade'
  await machine.must(['mkdir', '-p', full])
  await machine.must(['mount', '-t', 'tmpfs', '-o', 'size=4M', 'tmpfs', full])
  const { output, exitCode } = await server.upgrade('0.2.0')
  await machine.must(['umount', full])
  expect(output).toMatch(/The upgrade needs .* in \/var\/lib\/davit-upgrade, but only .* are free/)
  expect(exitCode).toBe(1)
  expect(await server.state()).toEqual(asBefore)
})

test.each([
  [
    'fails at its start',
    '0.3.0',
    ['it ended with status 1 at its start', 'It said: Flooded. Pump. Davit 0.1.0'],
  ],
  ['hangs at its start', '0.4.0', ['it wasn’t ready within 10 seconds']],
  ['responds with errors', '0.5.0', ['health/ready responded with status 503']],
])('a version that %s is undone, and it says why', async (_, version, words) => {
  const { exitCode, output } = await server.upgrade(version, ['--timeout', '10'])
  for (const said of words) expect(output).toContain(said)
  expect(output).toContain(`Davit ${version} doesn’t work here`)
  expect(output).toContain('Davit 0.1.0 and its database were put back')
  expect(exitCode).toBe(1)
  expect(await server.state()).toEqual(asBefore)
  expect(await app.stillRuns()).toBe(true)
})

test('a server that was stopped within an upgrade is whole again by davit install, which says so', async () => {
  // it hangs, so that there is time to stop it
  const script = `echo $$ > /tmp/upgrading; exec davit upgrade ${server.file('0.4.0')}`
  const upgrading = machine.run(['sh', '-c', script])
  const isTried = ['grep', '--quiet', 'trial', '/var/lib/davit-upgrade/upgrade.json']
  await until(async () => (await machine.run(isTried)).exitCode === 0, 60)
  await machine.must(['sh', '-c', 'kill -9 $(cat /tmp/upgrading)'])
  await machine.must(['systemctl', 'stop', 'davit'])
  expect((await upgrading).exitCode).toBe(137)

  const install = [server.file('0.1.0'), 'install', '--yes']
  const dry = await machine.must([...install, '--dry-run'])
  expect(dry).toContain('1. Finish the upgrade from 0.1.0 to 0.4.0, which was interrupted')
  const isActive = await machine.run(['systemctl', 'is-active', 'davit'])
  expect(isActive.output).toMatch(/^(inactive|failed)$/) // as it ended by itself, or was killed
  const output = await machine.must(install)
  expect(output).toMatch(/It was undone: .*\. Davit 0\.1\.0 is installed\./)
  expect(output).toMatch(/Davit 0\.1\.0 is installed( and runs|, and runs)\./)
  expect(await server.state()).toEqual(asBefore)
  expect(await app.stillRuns()).toBe(true)
})

test('what Davit’s user links in its data leads root nowhere', async () => {
  const { must, run } = machine
  const key = '/var/lib/davit/data/secret.key'
  await must(['sh', '-c', 'umask 077; echo of root > /root/other'])
  await must(['mv', key, '/root/key'])
  await must(['runuser', '-u', 'davit', '--', 'ln', '-s', '/root/other', key])
  for (const args of [['upgrade'], ['backup', '/root/davit.backup']]) {
    const { exitCode, output } = await run(['davit', ...args])
    expect(output).toContain(`${key} can’t be read`)
    expect(exitCode).toBe(1)
  }
  expect((await run(['ls', '/root/davit.backup'])).exitCode).not.toBe(0)
  await must(['mv', '/root/key', key])
  await must(['davit', 'backup', '/root/davit.backup'])
  expect(await must(['stat', '-c', '%U %a', '/root/davit.backup'])).toBe('root 600')
  expect(await must(['find', '/var/lib/davit', '!', '-user', 'davit'])).toBe('')
  expect(await server.state()).toEqual(asBefore)
})

test('the newest release takes over', async () => {
  const { exitCode, output } = await machine.run(['davit', 'upgrade'])
  expect(output).toContain('Davit 0.2.0 runs.')
  expect(exitCode).toBe(0)
  expect(await server.state()).toEqual({ version: '0.2.0', hasLater: true, leftOver: [] })
  expect(await app.stillRuns()).toBe(true)
})

test('an older version that can’t open the database is refused', async () => {
  const { exitCode, output } = await server.upgrade('0.1.0', ['--force'])
  expect(output).toContain('Davit 0.1.0 can’t open the database of 0.2.0')
  expect(exitCode).toBe(1)
  expect(await server.state()).toEqual({ version: '0.2.0', hasLater: true, leftOver: [] })
})

test('apps run on all the while: no visitor of one was turned away', async () => {
  expect(await app.stillRuns()).toBe(true)
  expect(await app.leave()).toEqual({ failed: [], containers: 1, wasVisited: true })
})
