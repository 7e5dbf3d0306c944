import { Database } from 'bun:sqlite'
import { join } from 'node:path'
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

/** Takes away the Caddy of an installation that has ended, which outlives it. */
export const removeEdge = (docker: Docker, dataDir: string) =>
  removeFromEngine(docker, [...labelsOf(dataDir), 'davit.kind=edge'])

/** Takes away all that an installation that has ended left on the engine. */
export const removeInstallation = (docker: Docker, dataDir: string) =>
  removeFromEngine(docker, labelsOf(dataDir))

function labelsOf(dataDir: string) {
  using db = new Database(join(dataDir, 'davit.db'), { readonly: true })
  const { id } = db.query<{ id: string }, []>('SELECT id FROM installation').get()!
  return [`davit.instance=${id}`]
}
