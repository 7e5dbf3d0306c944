import { eq, isNotNull, sql } from 'drizzle-orm'
import type { SQLiteSelect } from 'drizzle-orm/sqlite-core'
import type { Config } from '../config.ts'
import type { Tx } from '../db/index.ts'
import { domains, environments, projects, services } from '../db/schema.ts'
import { canonicalHost } from '../platform/hosts.ts'

const { host, path, redirectTo, certificate } = domains
const ownerId = sql<string>`coalesce(${projects.ownerId}, ${services.ownerId})`

export const withOwners = <Query extends SQLiteSelect>(query: Query) =>
  query
    .leftJoin(environments, eq(environments.id, domains.environmentId))
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, domains.serviceId))

export const listOwnedHosts = (db: Tx) =>
  withOwners(db.select({ host, path, redirectTo, ownerId }).from(domains).$dynamic()).all()

export const listOwnedCertificates = (db: Tx) =>
  withOwners(
    db
      .select({ certificate: sql<string>`${certificate}`, ownerId })
      .from(domains)
      .$dynamic(),
  )
    .where(isNotNull(certificate))
    .all()

/** Names of environments under DAVIT_DOMAIN. */
const listOwnedLabels = (db: Tx) =>
  db
    .select({ label: environments.label, ownerId: projects.ownerId })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(isNotNull(environments.label))
    .all()

export function ownersOfHosts(db: Tx, { url, domain }: Pick<Config, 'url' | 'domain'>) {
  const owners = new Map<string, string | null>()
  for (const { label, ownerId } of domain ? listOwnedLabels(db) : [])
    owners.set(`${label}.${domain}`, ownerId)
  for (const { host, ownerId } of listOwnedHosts(db)) owners.set(host, ownerId)
  for (const name of [url?.hostname, domain]) {
    const host = name && canonicalHost(name)
    if (host) owners.set(host, null)
  }
  return owners
}
