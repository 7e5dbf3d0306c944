import { expect, test } from 'bun:test'
import { statfsSync } from 'node:fs'
import { connectDocker } from '../../src/docker/index.ts'
import { aFolder } from '../support/folder.ts'

test('the disk with Docker’s data is measured in a container that is gone afterwards', async () => {
  const docker = connectDocker({ host: process.env.DOCKER_HOST })
  const { folder } = await docker.machine()
  const labels = { 'davit.instance': `test-${crypto.randomUUID()}` }
  const { signal } = new AbortController()
  const space = await docker.rootSpace({ folder, labels, signal })
  const { bsize, blocks } = statfsSync(process.env.DOCKER_HOST ? aFolder() : folder)
  expect(space).toMatchObject({ folder })
  expect(space!.size).toBeGreaterThan(space!.free)
  expect(space!.size).toBeLessThanOrEqual(bsize * blocks)
  const filter = Object.entries(labels).map((pair) => pair.join('='))
  expect(await docker.listContainers({ labels: filter, all: true })).toEqual([])
})
