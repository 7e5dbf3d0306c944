import type { Docker } from '../../src/docker/index.ts'

/** Takes away everything with these labels, and nothing else. */
export async function removeFromEngine(docker: Docker, labels: string[]) {
  const containers = await docker.listContainers({ labels, all: true })
  await Promise.all(containers.map(({ id }) => docker.removeContainer(id, { force: true })))
  for (const { id, tags } of await docker.listImages({ labels }))
    for (const image of tags.length > 0 ? tags : [id])
      await docker.removeImage(image, { force: true })
  for (const { id } of await docker.listNetworks({ labels })) await docker.removeNetwork(id)
  for (const { name } of await docker.listVolumes({ labels })) await docker.removeVolume(name)
}
