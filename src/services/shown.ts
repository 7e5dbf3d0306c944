import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import type { ContainerSummary, Docker } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { placesOf } from '../projects/places.ts'
import type { Places } from '../projects/places.ts'
import { listPorts } from './store.ts'
import type { Service, ServicePort } from './store.ts'

type ShownDeps = { config: Config; db: Db; docker: Docker; instanceId: string }

/** An instance with what the engine and the database know of it besides. */
export type Shown = {
  service: Service
  ports: ServicePort[]
  places: Places
  /** Null while the engine doesn't respond. */
  containers: ContainerSummary[] | null
}

/** Instances of one owner with their containers, which the engine is asked for once. */
export async function shownServices(
  deps: ShownDeps,
  { services, signal }: { services: Service[]; signal?: AbortSignal },
): Promise<Shown[]> {
  const containers = services.length > 0 ? await containersOf(deps, services, signal) : []
  return services.map((service) => ({
    service,
    ports: listPorts(deps.db, service.id),
    places: placesOf(deps, service.ownerId),
    containers: containers && newestParts(containers, service),
  }))
}

export const shownService = async (deps: ShownDeps, service: Service): Promise<Shown> =>
  (await shownServices(deps, { services: [service] }))[0]!

/** While one release takes the place of another, a part has two containers for a moment. */
const newestParts = (containers: ContainerSummary[], { id }: Service) =>
  [
    ...new Map(
      containers
        .filter(({ labels }) => readLabels(labels).serviceId === id)
        .map((container) => [container.labels[partLabel], container]),
    ),
  ].map(([, container]) => container)

/** Null when the engine does not answer: the rest can be shown all the same. */
async function containersOf(
  { docker, instanceId }: ShownDeps,
  services: Service[],
  signal?: AbortSignal,
): Promise<ContainerSummary[] | null> {
  const [only] = services
  const of = services.length === 1 ? { serviceId: only!.id } : {}
  const labels = labelFilter(instanceId, { ...of, kind: 'service' })
  try {
    const found = await docker.listContainers({ labels, all: true, signal })
    return found.toReversed() // in the order in which they were made
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
