import { expect, spyOn, test } from 'bun:test'
import { statfsSync } from 'node:fs'
import { labelFilter, labelsFor } from '../../src/docker/labels.ts'
import { removeBackupContainers } from '../../src/runtime/backup-containers.ts'
import { aFolder } from '../support/folder.ts'
import { buildTestImage } from '../support/images.ts'
import { until } from '../support/until.ts'
import { sandbox } from './sandbox.ts'

const { docker, tag } = sandbox()
const { signal } = new AbortController()

test('the disk with Docker’s data is measured in a container that is gone afterwards', async () => {
  const { folder } = await docker.machine()
  const labels = { 'davit.instance': `test-${crypto.randomUUID()}` }
  const space = await docker.rootSpace({ folder, images: [], labels, signal })
  const { bsize, blocks } = statfsSync(process.env.DOCKER_HOST ? aFolder() : folder)
  expect(space).toMatchObject({ folder })
  expect(space!.size).toBeGreaterThan(space!.free)
  expect(space!.size).toBeLessThanOrEqual(bsize * blocks)
  const filter = Object.entries(labels).map((pair) => pair.join('='))
  expect(await docker.listContainers({ labels: filter, all: true })).toEqual([])
})

/** An image of Davit’s own whose program is this script. */
async function imageWith(df: string) {
  const image = tag()
  const dockerfile = `FROM busybox
RUN rm /bin/df && printf '#!/bin/sh\\n${df}\\n' > /bin/df && chmod +x /bin/df`
  await buildTestImage(docker, { dockerfile, tag: image })
  return image
}

const spaceBy = (image: string, labels = {}) =>
  docker.rootSpace({ folder: '/d', images: [image], labels, signal })

const line = 'echo overlay 2 1 1 50%% /'
const itsSpace = { folder: '/d', size: 2048, free: 1024, used: 50 }

test('Davit’s own images are tried first', async () => {
  expect(await spaceBy(await imageWith(line))).toEqual(itsSpace)
})

test.each(['sleep 1000', 'yes'])(
  'a program that never ends, `%s`, leaves it to another image',
  async (df) => {
    const image = await imageWith(df)
    const { timeout } = AbortSignal
    using _ = spyOn(AbortSignal, 'timeout').mockImplementationOnce(() => timeout(500))
    expect((await spaceBy(image))!.size).toBeGreaterThan(itsSpace.size)
  },
)

test('removing what backups left doesn’t end a measurement', async () => {
  const instanceId = crypto.randomUUID()
  const image = await imageWith(`sleep 1; ${line}`)
  const space = spaceBy(image, labelsFor({ instanceId, kind: 'backup', ownerId: '' }))
  const labels = labelFilter(instanceId, { kind: 'backup' })
  await until(async () => (await docker.listContainers({ labels })).length > 0)
  await removeBackupContainers({ docker, instanceId }, { signal })
  expect(await space).toEqual(itsSpace)
})
