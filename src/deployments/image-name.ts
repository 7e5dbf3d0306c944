import type { Db } from '../db/index.ts'
import type { Docker } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import type { Secrets } from '../platform/secrets.ts'
import { renameImage } from './store.ts'

/**
 * The reference of the image that a deployment builds. Its ids are known to many, and builds of others
 * must not find the image: the rest can't be guessed.
 */
export const imageNameOf = (
  { secrets }: { secrets: Secrets },
  { projectId, id }: { projectId: string; id: string },
) => `davit/${projectId}:${id}-${secrets.sign(`image of ${id}`).slice(0, 32)}`

/** Gives images that an earlier version built the names of today, on the engine and in the database. */
export async function renameOldImages(deps: {
  db: Db
  docker: Docker
  secrets: Secrets
  instanceId: string
}) {
  const { db, docker, instanceId } = deps
  const labels = labelFilter(instanceId, { kind: 'build' })
  for (const { id: image, tags } of await docker.listImages({ labels }))
    for (const from of tags) {
      const [, projectId, id] =
        /^davit\/([\w-]+):([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/.exec(from) ?? []
      if (!projectId || !id) continue
      const to = imageNameOf(deps, { projectId, id })
      await docker.tagImage(image, to)
      renameImage(db, { from, to })
      await docker.removeImage(from)
    }
}
