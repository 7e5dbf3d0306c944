import { expect, test } from 'bun:test'
import { withMachineLock } from './machine/lock.ts'
import { ensureBrowser, ensureBusyboxImage, ensureEngine, ensureServiceImages } from './machine.ts'

test('a machine that has everything is left as it is', async () => {
  const said: string[] = []
  const say = (line: string) => said.push(line)
  await ensureEngine({ say })
  await ensureBusyboxImage({ say })
  await ensureServiceImages({ say })
  expect(await ensureBrowser('chromium', { say })).toStartWith('/')
  expect(said).toEqual([])
})

test('an engine of DOCKER_HOST that doesn’t respond is named', () => {
  const machine = JSON.stringify(new URL('machine.ts', import.meta.url).pathname)
  const code = `await (await import(${machine})).ensureEngine({ say: console.error })`
  const child = Bun.spawnSync([process.execPath, '-e', code], {
    env: { ...process.env, DOCKER_HOST: 'tcp://127.0.0.1:1' },
  })
  expect(child.exitCode).toBe(1)
  expect(child.stderr.toString()).toContain(
    'No Docker Engine answers at DOCKER_HOST=tcp://127.0.0.1:1.',
  )
})

test('what changes the machine happens one after the other', async () => {
  const events: string[] = []
  const gate = Promise.withResolvers<void>()
  const first = withMachineLock(async () => {
    events.push('first begins')
    await gate.promise
    events.push('first ends')
  })
  const second = withMachineLock(async () => void events.push('second'))
  gate.resolve()
  await Promise.all([first, second])
  expect(events).toEqual(['first begins', 'first ends', 'second'])
})
