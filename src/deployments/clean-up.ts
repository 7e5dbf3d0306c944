import type { Deps } from '../deps.ts'
import { EngineError } from '../docker/index.ts'
import { labelFilter } from '../projects/labels.ts'
import { forgetImage, getCurrent, listImages } from './store.ts'
import type { Job } from './store.ts'

/**
 * After a deployment: superseded containers of the environment go, images beyond those kept for
 * rollback go, untagged images of the project go. Nothing without this installation's labels is touched.
 */
export async function cleanUp(
  { db, docker, instanceId }: Pick<Deps, 'db' | 'docker' | 'instanceId'>,
  { project, environment }: Pick<Job, 'project' | 'environment'>,
) {
  const current = getCurrent(db, environment.id)
  const ofEnvironment = labelFilter(instanceId, { environmentId: environment.id })
  for (const { id } of await docker.listContainers({ labels: ofEnvironment, all: true }))
    if (id !== current?.containerId) await docker.removeContainer(id, { force: true })

  const images = listImages(db, environment.id)
  for (const image of images.slice(project.keepImages)) {
    if (image === current?.image) continue
    if (await removeUnlessUsed(image)) forgetImage(db, image)
  }
  const ofProject = labelFilter(instanceId, { projectId: project.id })
  for (const { id, tags } of await docker.listImages({ labels: ofProject }))
    if (tags.length === 0) await removeUnlessUsed(id)

  /** A container that is just being deployed may use it; the next clean-up takes it then. */
  async function removeUnlessUsed(image: string) {
    try {
      await docker.removeImage(image)
      return true
    } catch (error) {
      if (error instanceof EngineError && error.status === 409) return false
      throw error
    }
  }
}
