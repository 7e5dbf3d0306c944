import type { Db } from '../db/index.ts'
import { unlessUsed } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { removeImage } from '../runtime/images/remove.ts'
import { getCurrent, listImages } from './store.ts'
import type { Job } from './store.ts'

/**
 * After a deployment: images beyond those kept for rollback go, along with what interrupted builds left.
 * Nothing without this installation's labels is touched.
 */
export async function removeOldImages(
  { db, docker, instanceId }: { db: Db; docker: Docker; instanceId: string },
  { project, environment }: Pick<Job, 'project' | 'environment'>,
) {
  const known = listImages(db, environment.id)
  const kept = [...known.slice(0, project.keepImages), getCurrent(db, environment.id)?.image]
  const labels = labelFilter(instanceId, { environmentId: environment.id })
  const onEngine = (await docker.listImages({ labels })).flatMap(({ id, tags }) =>
    tags.length > 0 ? tags.filter((tag) => tag.startsWith('davit/')) : [id],
  )
  for (const image of new Set([...known, ...onEngine]))
    if (!kept.includes(image)) await unlessUsed(removeImage({ db, docker }, [image]))
}
