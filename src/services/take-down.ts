import { atItsPace } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import type { Collector } from '../logs/collector.ts'
import { stopAndRemove } from '../runtime/stop-and-remove.ts'
import { labelFilter } from '../docker/labels.ts'

type OfService = { docker: Docker; instanceId: string; service: { id: string } }
type Removing = OfService & { collector: Collector }

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
