import { labelFilter, labelsFor } from '../../docker/labels.ts'
import { ensureNetwork } from '../../runtime/network.ts'
import { networkName } from '../definition.ts'
import type { Made, ServiceRun } from '../run.ts'
import type { PulledImages } from './pull.ts'

/** Makes network, volumes and containers of an instance; nothing runs yet. */
export async function createContainers(run: ServiceRun, images: PulledImages): Promise<Made[]> {
  const { docker, plans, service, instanceId, signal } = run
  const { id: serviceId, ownerId } = service
  const labels = labelsFor({ instanceId, kind: 'service', ownerId, serviceId })
  const filter = labelFilter(instanceId, { serviceId })
  await ensureNetwork(run, { name: networkName(serviceId), filter, labels, signal })
  for (const name of new Set(plans.flatMap(({ volumes }) => volumes)))
    await docker.createVolume({ name, labels })

  const made: Made[] = []
  for (const plan of plans) {
    signal.throwIfAborted()
    // never restarted while it is watched: a crash must end the start, not be hidden
    const image = images.get(plan.options.image)!
    const id = await docker.createContainer({ ...plan.options, image, restart: { name: 'no' } })
    made.push({ plan, id })
    if (plan.files.length > 0) await docker.putArchive(id, { path: '/', files: plan.files })
  }
  return made
}
