import { and, eq, isNull } from 'drizzle-orm'
import { getRow } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { registries, users } from '../db/schema.ts'

/** The password is encrypted. */
export type Registry = typeof registries.$inferSelect

export const getRegistryOf = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  getRow(db, registries, and(eq(registries.ownerId, ownerId), eq(registries.host, host)))

/** The oldest login that an admin has stored. */
export const getRegistryOfAdmins = (db: Db, host: string) =>
  db
    .select({ registry: registries })
    .from(registries)
    .innerJoin(users, eq(users.id, registries.ownerId))
    .where(and(eq(registries.host, host), eq(users.role, 'admin'), isNull(users.disabledAt)))
    .orderBy(registries.id)
    .get()?.registry
