import { setTimeout as sleep } from 'node:timers/promises'
import { freeSubnet, isSubnetTaken } from '../../docker/index.ts'
import { labelFilter, labelsFor } from '../../projects/labels.ts'
import type { Run } from '../run.ts'

/** Tries for a subnet when someone else keeps taking the one just found free. */
const maxTries = 10

/** The project's own network, made at its first deployment. Returns its name. */
export async function ensureNetwork({ docker, project, instanceId, config, signal }: Run) {
  const labels = labelFilter(instanceId, { projectId: project.id })
  const [existing] = await docker.listNetworks({ labels, signal })
  if (existing) return existing.name
  const name = `davit-${project.id}`
  for (let tries = 1; ; tries++) {
    const used = await docker.usedSubnets({ signal })
    const subnet = freeSubnet({ pool: config.networkPool, prefix: 26, used })
    const own = labelsFor({
      instanceId,
      kind: 'app',
      ownerId: project.ownerId,
      projectId: project.id,
    })
    try {
      await docker.createNetwork({ name, subnet, labels: own })
      return name
    } catch (error) {
      const [made] = await docker.listNetworks({ labels, signal })
      if (made) return made.name // another environment of the project was quicker
      if (!isSubnetTaken(error) || tries === maxTries) throw error
      await sleep(100, undefined, { signal }) // a network in the making is not listed yet
    }
  }
}
