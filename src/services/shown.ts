import type { Config } from '../config.ts'
import type { ContainerSummary, Engines, OnServer } from '../docker/index.ts'
import { Failure } from '../platform/errors.ts'
import { labelFilter, partLabel, readLabels } from '../docker/labels.ts'
import { listHosts } from '../addresses/store.ts'
import { placesOf } from '../addresses/places.ts'
import { pinnedTo, pinOf } from '../runtime/pins.ts'
import { listLiveInstances } from '../runtime/store.ts'
import { namedUrl } from '../addresses/urls.ts'
import type { UrlDeps } from '../addresses/urls.ts'
import { addressOf } from './address.ts'
import { serverOf } from './placement.ts'
import { listPorts } from './store.ts'
import type { Service } from './store.ts'

/** True of one that should run. */
export const isUp = (status: Service['status']) => status === 'running' || status === 'unhealthy'

/** Unknown while it should run on a server that is away. */
export const statusOf = (
  { engines }: { engines: Pick<Engines, 'isAway'> },
  { status }: Pick<Service, 'status'>,
  instances: OnServer[] = [],
): Service['status'] | 'unknown' =>
  isUp(status) && instances.some((one) => engines.isAway(one)) ? 'unknown' : status

type ShownDeps = UrlDeps & { config: Config; engines: Engines; instanceId: string }

/** An instance with its state from the engine and the database. */
export type ShownService = Awaited<ReturnType<typeof shownServices>>[number]

/** Queries the engine once for all instances of an owner. */
export async function shownServices(
  deps: ShownDeps,
  { services, signal }: { services: Service[]; signal?: AbortSignal },
) {
  const containers = services.length > 0 ? await containersOf(deps, services, signal) : []
  return services.map((service) => {
    const holder = { serviceId: service.id }
    const ports = listPorts(deps.db, service.id)
    const places = placesOf(deps, service.ownerId, serverOf(service))
    return {
      service,
      status: statusOf(deps, service, listLiveInstances(deps.db, service.id)),
      ports,
      /** Its first domain, else the address of its first port. */
      url: namedUrl(deps, { holder, label: null }) ?? addressOf(places, ports),
      domains: listHosts(deps.db, holder),
      places,
      /** Where its volumes are; null while there is one server. */
      pin: pinOf(deps.db, { id: service.id, placedOn: serverOf(service) }),
      pinnedTo: pinnedTo(deps.db, service.id),
      /** Null while the engine doesn't respond. */
      containers: containers && newestParts(containers, service),
    }
  })
}

export const shownService = async (deps: ShownDeps, service: Service): Promise<ShownService> =>
  (await shownServices(deps, { services: [service] }))[0]!

/** During a switch, a component briefly has two containers; only the newer one is kept. */
const newestParts = (containers: ContainerSummary[], { id }: Service) =>
  [
    ...new Map(
      containers
        .filter(({ labels }) => readLabels(labels).serviceId === id)
        .map((container) => [container.labels[partLabel], container]),
    ),
  ].map(([, container]) => container)

/** Null when the engine doesn't respond: the rest can still be shown. */
async function containersOf(
  { engines, instanceId }: ShownDeps,
  services: Service[],
  signal?: AbortSignal,
): Promise<ContainerSummary[] | null> {
  const [only] = services
  const of = services.length === 1 ? { serviceId: only!.id } : {}
  const labels = labelFilter(instanceId, { ...of, kind: 'service' })
  try {
    const { found } = await engines.reachable((docker) =>
      docker.listContainers({ labels, all: true, signal }),
    )
    return found.toReversed() // in the order in which they were created
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}
