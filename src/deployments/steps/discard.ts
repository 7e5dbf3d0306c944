import type { Deps } from '../../deps.ts'
import { labelFilter } from '../../projects/labels.ts'
import type { Job } from '../store.ts'

/**
 * The undo of a run that did not reach its goal: its container goes, and so does the image it built,
 * unless Davit only stops and takes the run up again. Returns what the deployment has lost by it.
 */
export async function discard(
  { docker, instanceId }: Pick<Deps, 'docker' | 'instanceId'>,
  { job: { deployment, project }, stops }: { job: Job; stops: boolean },
) {
  const labels = [...labelFilter(instanceId, { deploymentId: deployment.id }), 'davit.kind=app']
  for (const { id } of await docker.listContainers({ labels, all: true }))
    await docker.removeContainer(id, { force: true })
  if (stops) return { containerId: null }
  // by its own name: what a rollback runs is the image of another deployment
  await docker.removeImage(`davit/${project.id}:${deployment.id}`)
  return { containerId: null, image: null }
}
