import { labelFilter, labelsFor } from '../../docker/labels.ts'
import { ensureNetwork } from '../../runtime/network.ts'
import type { Run } from '../run.ts'

/** The project's own network, made at its first deployment. Returns its name. */
export const ensureProjectNetwork = (run: Run) => {
  const { project, instanceId, signal } = run
  return ensureNetwork(run, {
    name: `davit-${project.id}`,
    filter: labelFilter(instanceId, { projectId: project.id }),
    labels: labelsFor({
      instanceId,
      kind: 'app',
      ownerId: project.ownerId,
      projectId: project.id,
    }),
    signal,
  })
}
