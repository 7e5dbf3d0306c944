import { and, desc, eq, isNotNull, isNull, ne } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { countRows, getRow, listValues } from '../db/queries.ts'
import { instances } from '../db/schema.ts'

type Tx = Pick<Db, 'select' | 'update'>

const heldOn = (network: string) =>
  and(eq(instances.network, network), ne(instances.state, 'removed'))

/** Containers of Davit's that are or will be on a network. */
export const countInstances = (db: Tx, network: string) => countRows(db, instances, heldOn(network))

/** The addresses that they hold there. */
export const listHeld = (db: Tx, network: string) =>
  listValues(db, instances.address, heldOn(network)).filter((address) => address !== null)

/** The address that was given last, whether it is still held or not. */
export function lastAddress(db: Tx, network: string) {
  const hadOne = and(eq(instances.network, network), isNotNull(instances.address))
  return getRow(db, instances, hadOne, desc(instances.id))?.address ?? null
}

/** Stores where an instance is; without an address another one has taken it over. */
export const keepAddress = (
  db: Tx,
  { id, network, address }: { id: string; network: string; address: string | null },
) => db.update(instances).set({ network, address }).where(eq(instances.id, id)).run()

/** For a container whose address its row doesn't have: one of an earlier version, or one taken over. */
export const adoptAddress = (
  db: Tx,
  { containerId, network, address }: { containerId: string; network: string; address: string },
) =>
  db
    .update(instances)
    .set({ network, address })
    .where(
      and(
        eq(instances.containerId, containerId),
        isNull(instances.address),
        ne(instances.state, 'removed'),
      ),
    )
    .run()
