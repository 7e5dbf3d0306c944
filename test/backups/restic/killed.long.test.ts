import { beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { removeBackupContainers } from '../../../src/runtime/backup-containers.ts'
import { labelFilter } from '../../../src/docker/labels.ts'
import { until } from '../../support/until.ts'
import { scene, signal, write } from './scene.ts'

const s = await scene()
const target = s.target({ path: s.folder() })
const restic = s.open(target)
beforeAll(() => restic.prepare({ signal }).then(() => {}))

const containers = () =>
  s.docker.listContainers({
    labels: labelFilter(s.deps.instanceId, { kind: 'backup' }),
    all: true,
  })

/** Kills a Davit that has stored half of a file. */
async function killOne(more: object = {}) {
  const { resticImage: image } = s.deps.config
  const options = JSON.stringify({ target, image, instanceId: s.deps.instanceId, ...more })
  const child = Bun.spawn(['bun', join(import.meta.dir, 'killed-store.ts'), options], {
    stdout: 'pipe',
    stderr: 'inherit',
    env: process.env,
  })
  for await (const chunk of child.stdout) if (Buffer.from(chunk).includes('half')) break
  child.kill('SIGKILL')
  await child.exited
}

test('a container that is kept for several commands ends with a Davit that is killed', async () => {
  await killOne({ inOne: true })
  const states = async () => (await containers()).map(({ state }) => state)
  await until(async () => (await states()).join() === 'exited')
  await removeBackupContainers(s.deps, { signal })
  expect(await states()).toEqual([])
  expect(await restic.list({ signal })).toEqual([])
})

test('a Davit that is killed leaves no half of a backup, and the next one removes its container', async () => {
  await killOne()
  const [left] = await containers()
  expect(left).toBeDefined()
  const now = { file: 'dump', tags: ['backup=now'], signal }
  // in the time of a whole backup, its restic could have stored what it has
  await restic.store({ ...now, from: write('all') })
  expect((await restic.list({ signal })).map(({ tags }) => tags)).toEqual([['backup=now']])
  // another backup may run meanwhile, and isn't taken for left
  await restic.store({
    ...now,
    async from(to) {
      await removeBackupContainers(s.deps, { signal })
      const running = await containers()
      expect(running.map(({ id }) => id)).not.toContain(left!.id)
      expect(running).toHaveLength(1)
      await write('all')(to)
    },
  })
  expect(await restic.list({ signal })).toHaveLength(2)
  // what the killed one locked needn't be waited for
  await s.check(target)
})
