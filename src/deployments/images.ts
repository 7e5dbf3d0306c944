import type { Db } from '../db/index.ts'
import { unlessUsed } from '../docker/index.ts'
import type { Docker, Engines } from '../docker/index.ts'
import { labelFilter, readLabels } from '../docker/labels.ts'
import { retryWhileEngineDown } from '../docker/retry-while-engine-down.ts'
import { listEnvironments } from '../environments/store.ts'
import type { Jobs } from '../jobs/jobs.ts'
import type { Secrets } from '../platform/secrets.ts'
import { removeEverywhere, removeImage, removeShared } from '../runtime/images/remove.ts'
import {
  deleteUnusedStacks,
  deployedImage,
  listStackImages,
} from '../runtime/images/stack-store.ts'
import { isImageKept } from '../runtime/images/store.ts'
import { getCurrent, getJob, isEnded, listImages } from './store.ts'
import type { Job } from './store.ts'

type ImageDeps = { db: Db; engines: Engines; instanceId: string }

/**
 * The reference of the image that a deployment builds. Deployment ids aren't secret, and other users' builds
 * must not find the image, so the rest can't be guessed.
 */
export const imageNameOf = (
  { secrets }: { secrets: Secrets },
  { projectId, id }: { projectId: string; id: string },
) => `davit/${projectId}:${id}-${secrets.sign(`image of ${id}`).slice(0, 32)}`

/**
 * Called after a deployment. Removes images beyond those kept for rollback, and orphans of interrupted
 * builds. Images without this installation's labels stay.
 */
export async function removeOldImages(
  deps: ImageDeps & Parameters<typeof removeShared>[0],
  { project, environment }: Pick<Job, 'project' | 'environment'>,
) {
  const { db, engines, instanceId } = deps
  const deployed = listImages(db, environment.id)
  const kept = listEnvironments(db, project.id).flatMap(({ id }) => [
    ...listImages(db, id).slice(0, project.keepImages),
    getCurrent(db, id)?.image,
  ])
  const gone = deployed.filter((image) => !kept.includes(image))
  const known = [...deployed, ...listStackImages(db, gone)]
  const labels = labelFilter(instanceId, { environmentId: environment.id })
  const { found } = await engines.reachable((docker) => docker.listImages({ labels }))
  const onEngine = found.flatMap(({ id, tags }) =>
    tags.length > 0 ? tags.filter((tag) => tag.startsWith('davit/')) : [id],
  )
  for (const image of new Set([...known, ...onEngine]))
    if (!kept.includes(deployedImage(image)))
      await unlessUsed(removeImage({ db, engines }, [image]))
  deleteUnusedStacks(db)
  await removeShared(deps, project.id)
}

/** Removes images that were built or pulled for deployments which ended without using them. */
export async function removeOrphanImages(
  deps: ImageDeps & { docker: Docker; jobs: Jobs; secrets: Secrets },
  { signal }: { signal: AbortSignal },
) {
  const { db, docker, engines, jobs, instanceId } = deps
  const listing = { signal, failed: 'orphaned images could not be listed' }
  const found = await retryWhileEngineDown(docker, listing, async () => {
    const labels = labelFilter(instanceId, { kind: 'build' })
    const built = await engines.reachable((one) => one.listImages({ labels }))
    const all = await engines.reachable((one) => one.listImages())
    return [
      ...built.found.map(({ id, labels, tags }) => ({
        ...{ id, deploymentId: readLabels(labels).deploymentId },
        names: tags.length > 0 ? tags : [id],
      })),
      ...all.found.flatMap(({ id, tags }) => tags.flatMap(pulledBy(deps, id))),
    ]
  })
  for (const { id, deploymentId, names } of found ?? []) {
    const removal = {
      signal,
      failed: 'an orphaned image could not be removed',
      fields: { image: id },
    }
    await retryWhileEngineDown(docker, removal, async () => {
      const job = getJob(db, deploymentId)
      if (!job || jobs.isRunning(job.environment.id) || !isEnded(job.deployment.status)) return
      for (const image of names)
        if (!isImageKept(db, image)) await unlessUsed(removeEverywhere(engines, image))
    })
  }
}

/** A pulled image has no labels, but a name that only this installation could give it. */
const pulledBy = (deps: { db: Db; secrets: Secrets }, id: string) => (name: string) => {
  const deploymentId = /^davit\/[0-9a-f-]{36}:([0-9a-f-]{36})-/.exec(name)?.[1]
  const job = deploymentId && getJob(deps.db, deploymentId)
  if (!job || imageNameOf(deps, job.deployment) !== deployedImage(name)) return []
  return [{ id, deploymentId, names: [name] }]
}
