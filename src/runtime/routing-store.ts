import { and, asc, count, eq, inArray, isNotNull, isNull, ne, notInArray, or } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Db, Tx } from '../db/index.ts'
import { getRow, listRows, listValues } from '../db/queries.ts'
import {
  domains,
  endpoints,
  environments,
  instances,
  projects,
  servicePorts,
  services,
  workloads,
} from '../db/schema.ts'
import type { Belonging } from '../docker/labels.ts'
import { firstServer } from '../platform/root.ts'
import { getServer } from '../servers/store.ts'
import { publishedAt } from './endpoint-store.ts'
import { isOfRelease } from './store.ts'
import type { InstanceState } from './store.ts'
import { networkNameOf } from './workload.ts'
import type { WorkloadKey } from './workload.ts'

/** The address is null when unknown. */
export type InstanceAddress = {
  id: string
  serverId: string
  component: string
  state: InstanceState
  address: string | null
  port: number | null
}

/** Instances that may run, with their addresses on the workload's own network. */
export function listPlaces(db: Tx, workload: WorkloadKey): InstanceAddress[] {
  const network = ownNetworkOf(db, workload)
  return db
    .select({
      id: instances.id,
      serverId: instances.serverId,
      component: instances.component,
      state: instances.state,
      address: endpoints.address,
      port: instances.port,
    })
    .from(instances)
    .leftJoin(
      endpoints,
      and(eq(endpoints.instanceId, instances.id), eq(endpoints.network, network), endpoints.held),
    )
    .where(and(eq(instances.workloadId, workload.id), isOfRelease))
    .orderBy(asc(instances.component), asc(instances.slot), asc(instances.id))
    .all()
    .map((place) =>
      place.serverId === firstServer
        ? place
        : { ...place, address: null, ...publishedAt(db, place) },
    )
}

/** The edge reaches the workload on this network. */
export function ownNetworkOf(db: Tx, { id, kind }: WorkloadKey) {
  if (kind === 'service') return networkNameOf({ id })
  const environment = getRow(db, environments, eq(environments.id, id))
  return networkNameOf({ id, ...(environment && { projectId: environment.projectId }) })
}

/** In seconds. */
export const getDrainSeconds = (db: Tx, { id, kind }: WorkloadKey) =>
  kind === 'app' ? (getRow(db, environments, eq(environments.id, id))?.drainSeconds ?? 0) : 0

/** Undefined when its environment was deleted. */
export const getProjectOf = (db: Tx, environmentId: string) =>
  db
    .select({ id: projects.id, keepImages: projects.keepImages })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(eq(environments.id, environmentId))
    .get()

/** False when it is being deleted or doesn't exist. */
export const isKept = (db: Tx, environmentId: string) =>
  getRow(db, environments, eq(environments.id, environmentId))?.deletingAt === null

export const listEnvironmentIds = (db: Db) => listValues(db, environments.id)

/** Environments whose `web` may run although its address isn't stored. */
export const listUnplaced = (db: Db) =>
  db
    .select({ id: instances.workloadId })
    .from(instances)
    .leftJoin(endpoints, and(eq(endpoints.instanceId, instances.id), endpoints.held))
    .where(
      and(
        eq(instances.component, 'web'),
        inArray(instances.state, ['live', 'unhealthy']),
        or(isNull(instances.port), isNull(endpoints.address)),
      ),
    )
    .all()
    .map(({ id }) => id)

/** Of releases, by server. */
export const countContainers = (db: Db) =>
  new Map(
    db
      .select({ serverId: instances.serverId, containers: count() })
      .from(instances)
      .where(notInArray(instances.state, ['removed', 'draining']))
      .groupBy(instances.serverId)
      .all()
      .map(({ serverId, containers }) => [serverId, containers] as const),
  )

/** Those that have instances on a server. */
export const listWorkloadsOn = (db: Db, serverId: string): WorkloadKey[] =>
  db
    .selectDistinct({ id: workloads.id, serviceId: workloads.serviceId })
    .from(instances)
    .innerJoin(workloads, eq(workloads.id, instances.workloadId))
    .where(and(eq(instances.serverId, serverId), ne(instances.state, 'removed')))
    .all()
    .map(({ id, serviceId }) => ({ id, kind: serviceId === null ? 'app' : 'service' }))

/**
 * Servers with containers or volumes of an environment, a project, a service or a user; `left` adds those with
 * volumes that a move has left there.
 */
export function listServersOf(
  db: Db,
  { environmentId, projectId, serviceId, ownerId }: Belonging,
  { left = false } = {},
) {
  const same = (column: SQLiteColumn, value?: string) => (value ? eq(column, value) : undefined)
  const isThere = and(eq(instances.workloadId, workloads.id), ne(instances.state, 'removed'))
  const rows = db
    .selectDistinct({
      running: instances.serverId,
      pinned: workloads.pinnedTo,
      move: workloads.move,
    })
    .from(workloads)
    .leftJoin(instances, isThere)
    .leftJoin(environments, eq(environments.id, workloads.id))
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, workloads.id))
    .where(
      and(
        same(environments.id, environmentId),
        same(projects.id, projectId),
        same(services.id, serviceId),
        ownerId ? or(eq(projects.ownerId, ownerId), eq(services.ownerId, ownerId)) : undefined,
      ),
    )
    .all()
  const found = rows.flatMap(({ running, pinned, move }) => [
    running,
    pinned,
    (left && move?.leftOn) || null,
  ])
  return [...new Set(found)].filter((id) => id !== null)
}

/** Services that have domains. */
export const listNamedServiceIds = (db: Db) => [
  ...new Set(
    listValues(db, domains.serviceId, isNotNull(domains.serviceId)).flatMap((id) => id ?? []),
  ),
]

/** The default target of a service's domains: its first published TCP port. Null without one. */
export function usualTarget(db: Tx, serviceId: string) {
  const [first] = listRows(
    db,
    servicePorts,
    and(eq(servicePorts.serviceId, serviceId), ne(servicePorts.protocol, 'udp')),
    asc(servicePorts.position),
  )
  return first ? { component: first.target, port: first.containerPort } : null
}

/** Each with the component and the port that it routes to, and the port of its server that leads there. */
export function listServiceDomains(db: Db, serviceId: string) {
  const ports = listRows(
    db,
    servicePorts,
    and(eq(servicePorts.serviceId, serviceId), ne(servicePorts.protocol, 'udp')),
  )
  const usual = usualTarget(db, serviceId)
  return listRows(db, domains, eq(domains.serviceId, serviceId)).map((domain) => {
    const component = domain.component ?? usual?.component
    const port = domain.port ?? usual?.port
    const isIt = (one: (typeof ports)[number]) =>
      one.target === component && one.containerPort === port
    return { id: domain.id, component, port, hostPort: ports.find(isIt)?.port ?? null }
  })
}

/** A service of another server is reached at a port that it publishes there. */
export const reachedAt = (
  db: Db,
  place: InstanceAddress,
  { port = null, hostPort }: { port?: number | null | undefined; hostPort: number | null },
): InstanceAddress =>
  place.serverId === firstServer
    ? { ...place, port }
    : { ...place, address: getServer(db, place.serverId)?.address ?? null, port: hostPort }
