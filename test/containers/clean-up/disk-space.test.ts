import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { diskSpace } from '../../../src/containers/clean-up/disk.ts'
import { spaceOf } from '../../../src/platform/disk-space.ts'
import { testApp } from '../../support/app.ts'

test('shows what a disk has left', async () => {
  const space = (await spaceOf(import.meta.dir))!
  expect(space.free).toBeGreaterThan(0)
  expect(space.size).toBeGreaterThan(space.free)
  expect(space.used).toBeGreaterThan(0)
  expect(space.used).toBeLessThanOrEqual(100)
})

test('where the engine’s folder can’t be seen, Davit’s own disk stands for it', async () => {
  const t = testApp()
  const machine = await t.docker.machine()
  t.faults.machine = async () => ({ ...machine, folder: join(t.dataDir, 'not here') })
  expect((await diskSpace(t.deps))!.folder).toBe(t.config.dataDir)
})

test('of an engine on another machine nothing is known', async () => {
  const t = testApp()
  expect(await diskSpace({ ...t.deps, docker: { ...t.docker, remote: true } })).toBeNull()
})
