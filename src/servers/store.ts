import { eq } from 'drizzle-orm'
import type { InferInsertModel, InferSelectModel } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import { servers } from '../db/schema.ts'

type Row = InferSelectModel<typeof servers>

export type Server = ReturnType<typeof toServer>

/** Davit’s own first. Empty while there is no other. */
export const listServers = (db: Pick<Tx, 'select'>) =>
  db.select().from(servers).orderBy(servers.id).all().map(toServer)

export function getServer(db: Pick<Tx, 'select'>, id: string) {
  const row = db.select().from(servers).where(eq(servers.id, id)).get()
  return row && toServer(row)
}

const toServer = (row: Row) => ({ ...row, state: stateOf(row) })

function stateOf({ lastSeenAt, isDraining }: Row) {
  if (lastSeenAt) return 'away' as const
  return isDraining ? ('draining' as const) : ('ready' as const)
}

export const insertServer = (db: Tx, row: InferInsertModel<typeof servers>) =>
  toServer(db.insert(servers).values(row).returning().get())

export const updateServer = (db: Tx, id: string, changes: Partial<Row>) =>
  db.update(servers).set(changes).where(eq(servers.id, id)).run()

export const deleteServer = (db: Tx, id: string) =>
  db.delete(servers).where(eq(servers.id, id)).run()
