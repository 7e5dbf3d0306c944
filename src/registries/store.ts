import { and, eq } from 'drizzle-orm'
import { countRows, getRow, listPage } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { registries } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

/** A registry; its password is sealed. */
export type Registry = typeof registries.$inferSelect

const ownedBy = (ownerId: string) => eq(registries.ownerId, ownerId)

export function findRegistry(db: Db, { id, ownerId }: { id: string; ownerId: string }): Registry {
  const registry = getRow(db, registries, and(eq(registries.id, id), ownedBy(ownerId)))
  if (!registry) throw notFound('registry')
  return registry
}

/** A page of a user's registries plus one more row, newest first. */
export const listRegistries = (db: Db, { ownerId, ...page }: { ownerId: string } & Page) =>
  listPage(db, registries, ownedBy(ownerId), page)

export const countRegistries = (db: Db, ownerId: string) =>
  countRows(db, registries, ownedBy(ownerId))

/** The password must be sealed for the id given. */
export const insertRegistry = (db: Db, values: typeof registries.$inferInsert): Registry =>
  refuseDuplicate(() => db.insert(registries).values(values).returning().get(), {
    'registries.owner_id, registries.host': [
      'host',
      'You already have this registry. Remove it first, then add it with the new password.',
    ],
  })

export const deleteRegistry = (db: Db, id: string) =>
  db.delete(registries).where(eq(registries.id, id)).run()

export const getRegistryOf = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  getRow(db, registries, and(ownedBy(ownerId), eq(registries.host, host)))
