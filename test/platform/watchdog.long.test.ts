import { expect, onTestFinished, test } from 'bun:test'
import { join } from 'node:path'
import { listenForStates } from '../support/notify-socket.ts'
import { until } from '../support/until.ts'
import { aDavit, aDirectory, isWell, later, soon } from './watched.ts'

test('a Davit whose loop stands still ends, says why, and starts again', async () => {
  const davit = await aDavit(soon)
  process.kill(davit.pid, 'SIGUSR2')
  expect(await davit.exited).not.toBe(0)
  const last = (await davit.log()).trim().split('\n').at(-1)!
  expect(JSON.parse(last)).toMatchObject({ level: 'error' })
  expect(last).toContain('was blocked for 2 s')
  expect(await isWell(await aDavit(soon, davit.directory))).toBe(true)
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

test('a Davit that works, or was stopped for a while as a machine is, stays', async () => {
  const davit = await aDavit(later)
  process.kill(davit.pid, 'SIGSTOP')
  await Bun.sleep(5000)
  process.kill(davit.pid, 'SIGCONT')
  await Bun.sleep(4000)
  expect(await isWell(davit)).toBe(true)
  expect(await davit.log()).not.toContain('was blocked')
  expect(await davit.stop()).toBe(0)
})
