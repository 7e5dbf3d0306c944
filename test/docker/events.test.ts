import { expect, test } from 'bun:test'
import { connectDocker } from '../../src/docker/index.ts'
import { answer, fakeEngine } from './fake-engine.ts'
import { collect, sandbox } from './sandbox.ts'

const { docker, labels, run } = sandbox()
const label = Object.entries(labels).map((entry) => entry.join('='))

test('what happens to a container is heard of', async () => {
  const controller = new AbortController()
  const { signal } = controller
  const filters = { type: ['container'], event: ['start', 'die'], label }
  const events = docker.events({ filters, signal })
  const first = events.next()
  // The engine tells only what happens once it listens.
  await Bun.sleep(100)
  const id = await run('exit 3')
  expect((await first).value).toMatchObject({ type: 'container', action: 'start', id })
  const died = (await events.next()).value!
  expect(died).toMatchObject({ action: 'die', id })
  expect(died.attributes).toMatchObject({ exitCode: '3', ...labels })
  expect(Math.abs(Date.now() - died.time.getTime())).toBeLessThan(10_000)
  const next = events.next()
  controller.abort(new Error('enough'))
  expect(await next.catch((error) => error.message)).toBe('enough')
})

test('what has happened already is told to who asks from then on', async () => {
  const since = new Date()
  const id = await run('exit 4')
  await docker.waitForExit(id)
  const filters = { type: ['container'], container: [id] }
  for await (const { action } of docker.events({ filters, since })) if (action === 'die') break
  const later = docker.events({ filters, since: new Date(), signal: AbortSignal.timeout(300) })
  expect(await later.next().catch((error) => error.name)).toBe('TimeoutError')
})

test('the end of the connection is an error, also when the engine closes normally', async () => {
  const host = await fakeEngine(({ socket }) => answer(socket, 200, ''))
  const reading = collect(connectDocker({ host }).events())
  expect(await reading.catch((error) => error.code)).toBe('engine_unreachable')
})
