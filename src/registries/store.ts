import { and, eq } from 'drizzle-orm'
import { countRows, getRow } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { registries } from '../db/schema.ts'
import { refuseDuplicate } from '../db/failures.ts'

/** The password is encrypted. */
export type Registry = typeof registries.$inferSelect

const ownedBy = (ownerId: string) => eq(registries.ownerId, ownerId)

export const countRegistries = (db: Db, ownerId: string) =>
  countRows(db, registries, ownedBy(ownerId))

/** The password must be encrypted for this id. */
export const insertRegistry = (db: Db, values: typeof registries.$inferInsert): Registry =>
  refuseDuplicate(() => db.insert(registries).values(values).returning().get(), {
    'registries.owner_id, registries.host': [
      'host',
      'You already have this registry. Remove it first, then add it with the new password.',
    ],
  })

export const getRegistryOf = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  getRow(db, registries, and(ownedBy(ownerId), eq(registries.host, host)))
