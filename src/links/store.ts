import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { links, services } from '../db/schema.ts'
import type { Service } from '../services/store.ts'

export type Link = typeof links.$inferSelect

/** The links of an environment with their services, oldest first; not to those that are being deleted. */
export const listLinks = (db: Db, environmentId: string): { link: Link; service: Service }[] =>
  db
    .select({ link: links, service: services })
    .from(links)
    .innerJoin(services, eq(services.id, links.serviceId))
    .where(and(eq(links.environmentId, environmentId), isNull(services.deletingAt)))
    .orderBy(asc(links.id))
    .all()
