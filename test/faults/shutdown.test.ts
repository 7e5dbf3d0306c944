import { expect, onTestFinished, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bareEnvironment, startDavit } from '../support/davit.ts'
import { halfSent } from './half-sent.ts'

/** A data directory of its own, and processes on it. */
function aDirectory() {
  const directory = mkdtempSync(join(tmpdir(), 'davit-shutdown-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const env = { DAVIT_DATA_DIR: join(directory, 'data') }
  return { directory, env, start: (more = {}) => startDavit({ directory, env, ...more }) }
}

test('a second signal ends Davit at once, and a hang-up is a signal like others', async () => {
  const { start } = aDirectory()
  const davit = await start()
  const request = await halfSent(davit)
  expect((await fetch(`${davit.url}/health`)).status).toBe(200) // by now that is in work
  process.kill(davit.pid, 'SIGHUP')
  await refuses(davit.url)
  const before = performance.now()
  process.kill(davit.pid, 'SIGTERM')
  expect(await davit.exited).toBe(1)
  expect(performance.now() - before).toBeLessThan(15_000) // what is at work may take 20 s
  request.leave()

  const again = await start() // nothing of it is in the way of the next one
  expect(await again.stop()).toBe(0)
}, 60_000)

test('Davit outlives who started it, and who reads its output', async () => {
  const { env } = aDirectory()
  const script = `
    const child = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], { stdout: 'pipe', stderr: 'pipe', detached: true })
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      console.log(child.pid, /http:\\S+/.exec(text)[0])
      process.kill(process.pid, 'SIGKILL')
    }`
  const parent = Bun.spawn([process.execPath, '-e', script], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...bareEnvironment(), ...env, DAVIT_PORT: '0' },
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const [pid = '', url = ''] = (await parent.stdout.text()).trim().split(' ')
  await parent.exited
  expect(parent.signalCode).toBe('SIGKILL')
  expect((await fetch(`${url}/health/ready`)).status).toBe(200)
  process.kill(Number(pid), 'SIGTERM')
  await refuses(url)
  while (isAlive(Number(pid))) await Bun.sleep(20)
  expect(readdirSync(env.DAVIT_DATA_DIR)).not.toContain('davit.db-in-use') // in good order
}, 60_000)

test('a second Davit on one data directory says so in one line, and leaves the first alone', async () => {
  const { start, env } = aDirectory()
  const first = await start()
  const second = Bun.spawn([process.execPath, 'src/main.ts', 'serve'], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...bareEnvironment(), ...env, DAVIT_PORT: '0' },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  expect(await second.exited).toBe(1)
  expect(await second.stdout.text()).toBe('')
  const said = (await second.stderr.text()).trim()
  expect(said).toStartWith(`davit: The data directory ${env.DAVIT_DATA_DIR} is in use by another`)
  expect(said.split('\n')).toHaveLength(1)
  expect((await fetch(`${first.url}/health/ready`)).status).toBe(200)
  expect(await first.stop()).toBe(0)
}, 60_000)

/** Resolves when nothing listens there any more: the stop has begun. */
async function refuses(url: string) {
  for (;;)
    try {
      await fetch(`${url}/health`)
      await Bun.sleep(20)
    } catch {
      return
    }
}

function isAlive(pid: number) {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
