import { and, eq, inArray, isNotNull, isNull, max, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Domain } from '../addresses/store.ts'
import type { Config } from '../config.ts'
import type { UsagePoller } from '../containers/usage/poller.ts'
import { ownNames } from '../domains/page-view.ts'
import type { Db } from '../db/index.ts'
import { listRows } from '../db/queries.ts'
import {
  certificates,
  deployments,
  domains,
  environments,
  instances,
  projects,
  releases,
  services,
} from '../db/schema.ts'
import type { ServerUse } from '../servers/server-facts.tsx'

const current = alias(deployments, 'current')
const latest = alias(deployments, 'latest')

/** The columns of a deployment that decide an app's state. */
const columnsOf = <Table extends typeof current | typeof latest>(deployment: Table) => ({
  id: deployment.id as Table['id'],
  number: deployment.number as Table['number'],
  status: deployment.status as Table['status'],
  errorStep: deployment.errorStep as Table['errorStep'],
  errorCode: deployment.errorCode as Table['errorCode'],
  errorMessage: deployment.errorMessage as Table['errorMessage'],
})

/** The newest deployment of each environment; an index answers it. */
const newest = (condition = sql`1`) =>
  sql`(SELECT d.id FROM deployments d WHERE d.environment_id = ${environments.id} AND ${condition} ORDER BY d.id DESC LIMIT 1)`

/** All environments of a user with their live or stopped deployment, and their latest one. */
export const listApps = (db: Db, ownerId: string) =>
  db
    .select({
      id: environments.id,
      name: environments.name,
      projectId: environments.projectId,
      project: projects.name,
      current: columnsOf(current),
      latest: columnsOf(latest),
    })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(current, eq(current.id, newest(sql`d.status IN ('running', 'stopped')`)))
    .leftJoin(latest, eq(latest.id, newest()))
    .where(
      and(
        eq(projects.ownerId, ownerId),
        isNull(projects.deletingAt),
        isNull(environments.deletingAt),
      ),
    )
    .all()

export const listOwnServices = (db: Db, ownerId: string) =>
  db
    .select({
      id: services.id,
      name: services.name,
      template: services.template,
      version: services.version,
      status: services.status,
      errorMessage: services.errorMessage,
      createdAt: services.createdAt,
      /** The newest that created its containers; null before the first. */
      releaseId: max(releases.id),
      releasedAt: releases.createdAt, // of the row with that id, as SQLite defines it for max()
    })
    .from(services)
    .leftJoin(releases, eq(releases.workloadId, services.id))
    .where(and(eq(services.ownerId, ownerId), isNull(services.deletingAt)))
    .groupBy(services.id)
    .all()

/** Domains that are checked for one page, at most. */
const mostDomains = 200

const isTroubled = or(
  eq(certificates.dnsOk, false),
  eq(certificates.status, 'failed'),
  isNotNull(certificates.errorMessage),
)

/** Domains of a user with a problem of DNS or certificate, or that the edge rejected. */
export const listTroubledDomains = (
  db: Db,
  { ownerId, rejected }: { ownerId: string; rejected: string[] },
): Domain[] =>
  db
    .select({ domain: domains })
    .from(domains)
    .leftJoin(environments, eq(environments.id, domains.environmentId))
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, domains.serviceId))
    .leftJoin(certificates, eq(certificates.host, domains.host))
    .where(
      and(
        or(eq(projects.ownerId, ownerId), eq(services.ownerId, ownerId)),
        or(isTroubled, eq(domains.https, 'own'), inArray(domains.host, rejected)),
      ),
    )
    .limit(mostDomains)
    .all()
    .map(({ domain }) => domain)

/** The same for automatic names under DAVIT_DOMAIN, except those that are also domains. */
export function listTroubledNames(
  { db, config }: { db: Db; config: Pick<Config, 'domain'> },
  { ownerId, rejected }: { ownerId: string; rejected: string[] },
): Domain[] {
  if (!config.domain) return []
  const host = sql<string>`${environments.label} || ${`.${config.domain}`}`
  const found = db
    .select({ environment: environments })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(certificates, eq(certificates.host, host))
    .where(and(eq(projects.ownerId, ownerId), or(isTroubled, inArray(host, rejected))))
    .orderBy(environments.id)
    .limit(mostDomains)
    .all()
  const all = found.map(({ environment }) => environment)
  return ownNames({ db, config }, all)
}

/** All containers of apps and services that may run, with their servers; or those of one server. */
export const listHeldContainers = (db: Db, serverId?: string) =>
  db
    .select({ serverId: instances.serverId, containerId: instances.containerId })
    .from(instances)
    .where(
      and(
        isNotNull(instances.containerId),
        ne(instances.state, 'removed'),
        serverId === undefined ? undefined : eq(instances.serverId, serverId),
      ),
    )
    .all()

export const listShown = (
  db: Db,
  { deploymentIds, environmentIds }: { deploymentIds: string[]; environmentIds: string[] },
) => ({
  deployments: listRows(db, deployments, inArray(deployments.id, deploymentIds)),
  environments: listRows(db, environments, inArray(environments.id, environmentIds)),
})

/** What apps and services use together, as far as it was measured. */
export function useOf(
  { usage }: { usage: Pick<UsagePoller, 'latest'> },
  containers: ReturnType<typeof listHeldContainers>,
): ServerUse {
  const use = { cpu: 0, memory: 0 }
  for (const { containerId } of containers) {
    const measured = usage.latest(containerId!)?.usage
    use.cpu += measured?.cpu ?? 0
    use.memory += measured?.memory ?? 0
  }
  return use
}
