import { eq, isNotNull, sql } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { domains, environments, projects, services } from '../db/schema.ts'

type Tx = Pick<Db, 'select'>

/** Each path of each host, with its uploaded certificate. */
export const listOwnedHosts = (db: Tx) =>
  db
    .select({
      host: domains.host,
      certificate: domains.certificate,
      ownerId: sql<string>`coalesce(${projects.ownerId}, ${services.ownerId})`,
    })
    .from(domains)
    .leftJoin(environments, eq(environments.id, domains.environmentId))
    .leftJoin(projects, eq(projects.id, environments.projectId))
    .leftJoin(services, eq(services.id, domains.serviceId))
    .all()

/** Names of environments under DAVIT_DOMAIN. */
export const listOwnedLabels = (db: Tx) =>
  db
    .select({ label: environments.label, ownerId: projects.ownerId })
    .from(environments)
    .innerJoin(projects, eq(projects.id, environments.projectId))
    .where(isNotNull(environments.label))
    .all()
