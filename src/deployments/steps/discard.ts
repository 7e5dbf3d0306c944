import type { Deps } from '../../deps.ts'
import { labelFilter } from '../../docker/labels.ts'
import { stopAndRemove } from '../../runtime/stop-and-remove.ts'
import { imageNameOf } from '../image-name.ts'
import type { Job } from '../store.ts'

/**
 * The undo of a run that did not reach its goal: its container goes, and so does the image it built,
 * unless Davit only stops and takes the run up again. Returns what the deployment has lost by it.
 */
export async function discard(
  deps: Pick<Deps, 'docker' | 'collector' | 'secrets' | 'instanceId'>,
  { job: { deployment }, stops }: { job: Job; stops: boolean },
) {
  const { docker, instanceId } = deps
  const labels = labelFilter(instanceId, { deploymentId: deployment.id, kind: 'app' })
  for (const { id } of await docker.listContainers({ labels, all: true }))
    await stopAndRemove(deps, id, { timeoutSeconds: 0 })
  if (stops) return { containerId: null }
  // by its own name: what a rollback runs is the image of another deployment
  await docker.removeImage(imageNameOf(deps, deployment))
  return { containerId: null, image: null }
}
