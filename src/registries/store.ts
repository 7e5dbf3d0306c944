import { and, eq } from 'drizzle-orm'
import { getRow } from '../db/queries.ts'
import type { Db } from '../db/index.ts'
import { registries } from '../db/schema.ts'

/** The password is encrypted. */
export type Registry = typeof registries.$inferSelect

export const getRegistryOf = (db: Db, { ownerId, host }: { ownerId: string; host: string }) =>
  getRow(db, registries, and(eq(registries.ownerId, ownerId), eq(registries.host, host)))
