import type { Deps } from '../deps.ts'
import { EngineError } from '../docker/index.ts'
import { labelFilter } from '../docker/labels.ts'
import { stopAndRemove } from '../runtime/stop-and-remove.ts'
import { forgetImage } from '../projects/image-store.ts'
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
    if (!kept.includes(image)) await removeImage(deps, image)
}

/** A rollback that began before keeps it; one that comes while it is being removed is refused. */
async function removeImage({ db, docker }: Pick<CleanUpDeps, 'db' | 'docker'>, image: string) {
  const remember = forgetImage(db, image)
  if (!remember) return
  let removed = false
  try {
    removed = await removeUnlessUsed(docker, image)
  } finally {
    if (!removed) remember()
  }
}

/** A container that someone ran by hand may use it; the next clean-up takes it then. */
export async function removeUnlessUsed(docker: Deps['docker'], image: string) {
  try {
    await docker.removeImage(image)
    return true
  } catch (error) {
    if (error instanceof EngineError && error.status === 409) return false
    throw error
  }
}
