import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spaceOf } from '../../src/docker/disk-space.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { startPrivateEngine } from '../faults/private-engine.ts'
import type { PrivateEngine } from '../faults/private-engine.ts'
import { testApp } from '../support/app.ts'
import { until } from '../docker/sandbox.ts'
import { aBuild, aProject, finished, logOf } from './apps.ts'

let engine: PrivateEngine
// Of its own, because the caps of these tests are too narrow for what others build meanwhile.
beforeAll(async () => {
  engine = await startPrivateEngine({ diskMb: 250 })
})
afterAll(() => engine[Symbol.asyncDispose]())

function anApp(env: Record<string, string>) {
  const t = testApp(env)
  t.deps.docker = connectDocker({ host: engine.host })
  return { t, ada: t.logIn('ada@example.com') }
}

const narrow = { DAVIT_BUILD_MEMORY: '48', DAVIT_BUILD_CONCURRENCY: '2' }

test.each(['buildkit', 'classic'])(
  'a build with %s that takes too much fails alone',
  async (builder) => {
    const { t, ada } = anApp({ ...narrow, DAVIT_BUILDER: builder })
    const greedy = await aProject(t, ada, aBuild('tail -c 399m /dev/zero'), { name: 'greedy' })
    const modest = await aProject(t, ada, aBuild('sleep 1'), { name: 'modest', port: 0 })
    const [hungry, content] = [await greedy.trigger(), await modest.trigger()]

    const { status, error } = await finished(ada, hungry)
    expect(status).toBe('failed')
    expect(error).toMatchObject({ step: 'building', code: 'out_of_memory' })
    expect(error.message).toMatch(/RUN tail -c 399m .*out of memory: a build may use 48\.0 MiB/)
    expect(error.hint).toContain('DAVIT_BUILD_MEMORY')
    expect(await finished(ada, content)).toMatchObject({ status: 'running' })
    expect(await logOf(ada, hungry)).not.toContainEqual(
      expect.stringContaining('may use all memory'),
    )
  },
)

test('a build that fills the disk fails with words for it, and gives the disk back', async () => {
  const { t, ada } = anApp({})
  const fill = 'dd if=/dev/zero of=/big bs=1M count=999'
  const project = await aProject(t, ada, aBuild(`${fill}; exit 1`))
  const before = (await spaceOf(engine.dataRoot))!.free
  const { status, error } = await project.deploy()
  expect(status).toBe('failed')
  expect(error).toMatchObject({ step: 'building', code: 'disk_full' })
  expect(error.hint).toContain('Clean-up')
  // BuildKit lets go of what a failed step wrote a moment after its build has ended.
  await until(async () => (await spaceOf(engine.dataRoot))!.free > before - 2 ** 20)
})

test('a build does not begin on a disk with little left', async () => {
  const { t, ada } = anApp({})
  const project = await aProject(t, ada, aBuild('true'))
  const big = join(engine.dataRoot, 'big')
  onTestFinished(() => rm(big))
  const { free, size } = (await spaceOf(engine.dataRoot))!
  await Bun.write(big, new Uint8Array(free - size / 10 + 2 ** 20))
  const deployment = await project.deploy()
  expect(deployment).toMatchObject({
    status: 'failed',
    error: { code: 'low_disk' },
  })
  expect(deployment.error.message).toMatch(/The disk of the engine .* MiB are free, and 25\.0 MiB/)
  expect(deployment.error.hint).toContain('Clean-up')
  expect(await logOf(ada, deployment)).not.toContainEqual(expect.stringContaining('Building'))
})
