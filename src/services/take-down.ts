import type { Deps } from '../deps.ts'
import { atItsPace } from '../docker/index.ts'
import { stopAndRemove } from '../runtime/stop-and-remove.ts'
import { labelFilter } from '../docker/labels.ts'

type OfService = Pick<Deps, 'docker' | 'instanceId'> & { service: { id: string } }
type Removing = OfService & Pick<Deps, 'collector'>

/** Containers of an instance, those that do not run too. */
export const listOwnContainers = ({ docker, instanceId, service }: OfService) =>
  docker.listContainers({
    labels: labelFilter(instanceId, { serviceId: service.id, kind: 'service' }),
    all: true,
  })

/** Stops and removes the containers of an instance; network and volumes stay. Can be repeated. */
export async function takeDown(of: Removing) {
  for (const { id } of await listOwnContainers(of)) await stopAndRemove(of, id, atItsPace)
}

/** Takes away all that an instance has on the engine; its volumes only when asked. */
export async function removeFromEngine(of: Removing, { volumes }: { volumes: boolean }) {
  const { docker, instanceId, service } = of
  const labels = labelFilter(instanceId, { serviceId: service.id })
  const removed: { kind: string; name: string }[] = []
  for (const { name } of await listOwnContainers(of)) removed.push({ kind: 'container', name })
  await takeDown(of)
  for (const { id, name } of await docker.listNetworks({ labels }))
    if (await docker.removeNetwork(id)) removed.push({ kind: 'network', name })
  if (!volumes) return removed
  for (const { name } of await docker.listVolumes({ labels }))
    if (await docker.removeVolume(name)) removed.push({ kind: 'volume', name })
  return removed
}
