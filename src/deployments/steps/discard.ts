import { labelFilter } from '../../projects/labels.ts'
import { stopping } from '../run.ts'
import type { Run } from '../run.ts'

/**
 * The undo of a run that did not reach its goal: its container goes, and so does the image it built,
 * unless the run is taken up again. Returns what the deployment has lost by it.
 */
export async function discard({ docker, deployment, project, instanceId, signal }: Run) {
  const labels = labelFilter(instanceId, { deploymentId: deployment.id })
  for (const { id } of await docker.listContainers({ labels, all: true }))
    await docker.removeContainer(id, { force: true })
  if (deployment.rollbackOf || signal.reason === stopping) return { containerId: null }
  await docker.removeImage(`davit/${project.id}:${deployment.id}`)
  return { containerId: null, image: null }
}
