import type { Db } from '../db/index.ts'
import { unlessUsed } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { getJob, isEnded, isImageKept } from './store.ts'

type OrphanDeps = { db: Db; docker: Docker; jobs: Jobs; instanceId: string }

/** Removes images that were built for deployments which have come to their end without them. */
export async function removeOrphanImages(
  { db, docker, jobs, instanceId }: OrphanDeps,
  { signal }: { signal: AbortSignal },
) {
  const listing = { signal, failed: 'the images left over could not be listed' }
  const found = await retryWhileEngineDown(docker, listing, () =>
    docker.listImages({ labels: labelFilter(instanceId, { kind: 'build' }) }),
  )
  for (const { id, labels, tags } of found ?? []) {
    const removal = { signal, failed: 'an image left over stays', fields: { image: id } }
    await retryWhileEngineDown(docker, removal, async () => {
      const job = getJob(db, readLabels(labels).deploymentId)
      if (!job || jobs.isRunning(job.environment.id) || !isEnded(job.deployment.status)) return
      for (const image of tags.length > 0 ? tags : [id])
        if (!isImageKept(db, image)) await unlessUsed(docker.removeImage(image))
    })
  }
}
