import { afterAll, beforeAll, expect, onTestFinished, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spaceOf } from '../../src/platform/disk-space.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { startPrivateEngine } from '../faults/private-engine.ts'
import type { PrivateEngine } from '../faults/private-engine.ts'
import { testApp } from '../support/app.ts'
import { until } from '../support/until.ts'
import { aBuild, aProject, logOf } from './apps.ts'

let engine: PrivateEngine
// Of its own, because its disk is to be filled.
beforeAll(async () => {
  engine = await startPrivateEngine({ diskMb: 250 })
})
afterAll(() => engine[Symbol.asyncDispose]())

function anApp() {
  const t = testApp({}, { docker: connectDocker({ host: engine.host }) })
  return { t, ada: t.logIn('ada@example.com') }
}

test('a build that fills the disk fails with words for it, and gives the disk back', async () => {
  const { t, ada } = anApp()
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
  const { t, ada } = anApp()
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
  expect(deployment.error.message).toMatch(/The disk of Docker .* MiB are free, but 25\.0 MiB/)
  expect(deployment.error.hint).toContain('Clean-up')
  expect(await logOf(ada, deployment)).not.toContainEqual(expect.stringContaining('Building'))
})
