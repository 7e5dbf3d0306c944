import { and, asc, eq, inArray, isNull, or } from 'drizzle-orm'
import type { Domain } from '../addresses/store.ts'
import type { Db } from '../db/index.ts'
import { listRows } from '../db/queries.ts'
import { domains, instances, links, servicePorts, services } from '../db/schema.ts'
import { listOwnProjects } from '../git/store.ts'
import { listEnvironmentStates } from '../deployments/overview-store.ts'

export type Owned = ReturnType<typeof listOwned>

/** Everything of a user that the map shows and isn't being deleted, in a fixed number of queries. */
export function listOwned(db: Db, ownerId: string) {
  const ownProjects = listOwnProjects(db, ownerId)
  const ownServices = db
    .select({
      id: services.id,
      name: services.name,
      template: services.template,
      version: services.version,
      status: services.status,
      placement: services.placement,
    })
    .from(services)
    .where(and(eq(services.ownerId, ownerId), isNull(services.deletingAt)))
    .orderBy(asc(services.name))
    .all()
  const projectIds = ownProjects.map(({ id }) => id)
  const apps = listEnvironmentStates(db, projectIds).filter(
    ({ environment }) => environment.deletingAt === null,
  )
  const appIds = apps.map(({ environment }) => environment.id)
  const serviceIds = ownServices.map(({ id }) => id)
  return {
    projects: ownProjects,
    apps,
    services: ownServices,
    instances: listLive(db, [...appIds, ...serviceIds]),
    ports: listRows(
      db,
      servicePorts,
      inArray(servicePorts.serviceId, serviceIds),
      asc(servicePorts.position),
    ),
    links: db
      .select({ environmentId: links.environmentId, serviceId: links.serviceId })
      .from(links)
      .where(and(inArray(links.environmentId, appIds), inArray(links.serviceId, serviceIds)))
      .orderBy(asc(links.id))
      .all(),
    domains: listRows(
      db,
      domains,
      or(inArray(domains.environmentId, appIds), inArray(domains.serviceId, serviceIds)),
      asc(domains.position),
      asc(domains.id),
    ) as Domain[],
  }
}

/** Instances of the live releases of apps and services. */
export const listLive = (db: Db, workloadIds: string[]) =>
  db
    .select({
      workloadId: instances.workloadId,
      process: instances.component,
      slot: instances.slot,
      containerId: instances.containerId,
      state: instances.state,
      serverId: instances.serverId,
    })
    .from(instances)
    .where(
      and(
        inArray(instances.workloadId, workloadIds),
        inArray(instances.state, ['live', 'unhealthy', 'stopped']),
      ),
    )
    .orderBy(asc(instances.id))
    .all()
