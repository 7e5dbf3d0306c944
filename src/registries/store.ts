import { and, desc, eq, getTableColumns, lt } from 'drizzle-orm'
import { countRows } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { registries } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'
import { notFound } from '../platform/errors.ts'
import type { Page } from '../web/paging.ts'

/** A registry without its password: that one is opened where it is used. */
export type Registry = Omit<typeof registries.$inferSelect, 'password'>

const { password: sealed, ...shown } = getTableColumns(registries)

export function findRegistry(db: Db, { id, ownerId }: { id: string; ownerId: string }): Registry {
  const registry = db
    .select(shown)
    .from(registries)
    .where(and(eq(registries.id, id), eq(registries.ownerId, ownerId)))
    .get()
  if (!registry) throw notFound('registry')
  return registry
}

/** A page of a user's registries with one row too many, newest first. */
export const listRegistries = (db: Db, { ownerId, cursor, limit }: { ownerId: string } & Page) =>
  db
    .select(shown)
    .from(registries)
    .where(and(eq(registries.ownerId, ownerId), cursor ? lt(registries.id, cursor) : undefined))
    .orderBy(desc(registries.id))
    .limit(limit + 1)
    .all()

export const countRegistries = (db: Db, ownerId: string) =>
  countRows(db, registries, eq(registries.ownerId, ownerId))

/** The password is sealed already, for the id given. */
export const insertRegistry = (db: Db, values: typeof registries.$inferInsert): Registry =>
  refuseDuplicate(() => db.insert(registries).values(values).returning(shown).get(), {
    'registries.owner_id, registries.host': [
      'host',
      'You have this registry already. Remove it first, then add it with the new password.',
    ],
  })

export const deleteRegistry = (db: Db, id: string) =>
  db.delete(registries).where(eq(registries.id, id)).run()

/** With its password, still sealed. */
export const getRegistryOf = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  db
    .select({ ...shown, sealed })
    .from(registries)
    .where(and(eq(registries.ownerId, ownerId), eq(registries.host, host)))
    .get()
