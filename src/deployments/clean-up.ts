import type { Deps } from '../deps.ts'
import { unlessUsed } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { stopAndRemove } from '../runtime/stop-and-remove.ts'
import { removeImage } from '../runtime/images/remove.ts'
import { getCurrent, listImages } from './store.ts'
import type { Job } from './store.ts'

/** Seconds that a superseded container has to end in good order. */
const timeoutSeconds = 10

type CleanUpDeps = Pick<Deps, 'db' | 'docker' | 'collector' | 'instanceId'>

/**
 * After a deployment: superseded containers of the environment go, and images beyond those kept for
 * rollback, along with what interrupted builds left. Nothing without this installation's labels is
 * touched.
 */
export async function cleanUp(deps: CleanUpDeps, job: Pick<Job, 'project' | 'environment'>) {
  await removeContainers(deps, job)
  await removeImages(deps, job)
}

async function removeContainers(deps: CleanUpDeps, { environment }: Pick<Job, 'environment'>) {
  const { db, docker, instanceId } = deps
  const current = getCurrent(db, environment.id)
  // a container that someone ran by hand has the labels of our image, but not this kind
  const labels = labelFilter(instanceId, { environmentId: environment.id, kind: 'app' })
  for (const { id } of await docker.listContainers({ labels, all: true }))
    if (id !== current?.containerId) await stopAndRemove(deps, id, { timeoutSeconds })
}

async function removeImages(
  deps: CleanUpDeps,
  { project, environment }: Pick<Job, 'project' | 'environment'>,
) {
  const { db, docker, instanceId } = deps
  const known = listImages(db, environment.id)
  const kept = [...known.slice(0, project.keepImages), getCurrent(db, environment.id)?.image]
  const labels = labelFilter(instanceId, { environmentId: environment.id })
  const onEngine = (await docker.listImages({ labels })).flatMap(({ id, tags }) =>
    tags.length > 0 ? tags.filter((tag) => tag.startsWith('davit/')) : [id],
  )
  for (const image of new Set([...known, ...onEngine]))
    if (!kept.includes(image)) await unlessUsed(removeImage(deps, [image])) // by hand: the next time
}
