import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDavit } from '../support/davit.ts'
import { listenForStates } from '../support/notify-socket.ts'
import { until } from '../support/until.ts'

const preload = join(import.meta.dir, '../support/hang-on-signal.ts')
const command = [process.execPath, '--preload', preload, 'src/main.ts', 'serve']

/** Microseconds, as systemd says them, of which three quarters count: 1.5 s, and 3 s. */
const soon = { WATCHDOG_USEC: '2000000' }
const later = { WATCHDOG_USEC: '4000000' }

function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-watchdog-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

async function aDavit(env: Record<string, string>, directory = aDirectory()) {
  const data = { DAVIT_DATA_DIR: join(directory, 'data') }
  const davit = await startDavit({ directory, command, env: { ...data, ...env } })
  onTestFinished(() => void davit.stop())
  return { ...davit, log: () => Bun.file(join(directory, 'davit.log')).text(), directory }
}

const isWell = async ({ url }: { url: string }) => (await fetch(`${url}/health`)).status === 200

test('a Davit whose loop stands still ends, says why, and starts again', async () => {
  const davit = await aDavit(soon)
  process.kill(davit.pid, 'SIGUSR2')
  expect(await davit.exited).not.toBe(0)
  const last = (await davit.log()).trim().split('\n').at(-1)!
  expect(JSON.parse(last)).toMatchObject({ level: 'error' })
  expect(last).toContain('stood still for 2 s')
  expect(await isWell(await aDavit(soon, davit.directory))).toBe(true)
})

test('a Davit that works, or was stopped for a while as a machine is, stays', async () => {
  const davit = await aDavit(later)
  process.kill(davit.pid, 'SIGSTOP')
  await Bun.sleep(5000)
  process.kill(davit.pid, 'SIGCONT')
  await Bun.sleep(4000)
  expect(await isWell(davit)).toBe(true)
  expect(await davit.log()).not.toContain('stood still')
  expect(await davit.stop()).toBe(0)
})

test('systemd hears that it is ready, then each beat, and nothing more once it hangs', async () => {
  const path = join(aDirectory(), 'notify')
  const systemd = listenForStates(path)
  onTestFinished(() => void systemd.close())
  const davit = await aDavit({ ...later, NOTIFY_SOCKET: path })
  await until(() => systemd.states().length >= 3)
  expect(systemd.states().slice(0, 3)).toEqual(['READY=1', 'WATCHDOG=1', 'WATCHDOG=1'])
  process.kill(davit.pid, 'SIGUSR2')
  await davit.exited
  const heard = systemd.states().length
  await Bun.sleep(300)
  expect(systemd.states()).toHaveLength(heard)
})

test('a socket of systemd that is not there stops nothing', async () => {
  const davit = await aDavit({ ...later, NOTIFY_SOCKET: '/nowhere/notify' })
  await Bun.sleep(500)
  expect(await isWell(davit)).toBe(true)
  expect(await davit.stop()).toBe(0)
})
