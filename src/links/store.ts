import { and, asc, eq, isNull } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { links, services } from '../db/schema.ts'
import type { Service } from '../services/store.ts'

export type Link = typeof links.$inferSelect
export type LinkVariables = Link['variables']

export type Linked = { link: Link; service: Service }

/** Oldest first, without services that are being deleted. */
export const listLinks = (db: Db, environmentId: string): Linked[] =>
  db
    .select({ link: links, service: services })
    .from(links)
    .innerJoin(services, eq(services.id, links.serviceId))
    .where(and(eq(links.environmentId, environmentId), isNull(services.deletingAt)))
    .orderBy(asc(links.id))
    .all()

export const insertLink = (db: Db, values: typeof links.$inferInsert): Link =>
  db.insert(links).values(values).returning().get()

export const updateLink = (db: Db, id: string, variables: LinkVariables): Link =>
  db.update(links).set({ variables }).where(eq(links.id, id)).returning().get()

export const deleteLink = (db: Db, id: string) => db.delete(links).where(eq(links.id, id)).run()
