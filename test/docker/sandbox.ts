import { afterAll } from 'bun:test'
import type { ContainerOptions } from '../../src/docker/index.ts'
import { connectDocker } from '../../src/docker/index.ts'
import { until } from '../support/until.ts'

/** A corner of the real engine for one test file: what is made in it goes when the file ends. */
export function sandbox() {
  const docker = connectDocker()
  const id = Bun.randomUUIDv7().slice(-12)
  const labels = { 'test.sandbox': id }
  const tags: string[] = []
  let count = 0

  afterAll(async () => {
    const mine = { labels: [`test.sandbox=${id}`] }
    for (const container of await docker.listContainers({ ...mine, all: true })) {
      await docker.removeContainer(container.id, { force: true, volumes: true })
    }
    for (const network of await docker.listNetworks(mine)) await docker.removeNetwork(network.id)
    for (const volume of await docker.listVolumes(mine)) await docker.removeVolume(volume.name)
    for (const tag of tags) await docker.removeImage(tag, { force: true })
  })

  const name = () => `test-${id}-${++count}`

  return {
    docker,
    labels,
    name,

    /** A tag that is removed at the end. */
    tag() {
      const tag = `${name()}:latest`
      tags.push(tag)
      return tag
    },

    /** Runs a shell line in busybox and returns the container's id. */
    async run(line: string, options: Partial<ContainerOptions> = {}) {
      const container = await docker.createContainer({
        ...small(name()),
        ...options,
        command: ['sh', '-c', line],
      })
      await docker.startContainer(container)
      return container
    },

    /** Resolves when it has ended, and is listed so: lists are a moment behind. */
    async ended(id: string) {
      await docker.waitForExit(id)
      await until(async () => !(await docker.listContainers()).some((one) => one.id === id))
    },

    options: () => small(name()),
  }

  function small(name: string): ContainerOptions {
    return {
      name,
      image: 'busybox:latest',
      labels,
      network: 'bridge',
      memoryBytes: 32 * 2 ** 20,
      cpus: 1,
      pidsLimit: 64,
    }
  }
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
