import { and, count, desc, eq, isNotNull, isNull, ne } from 'drizzle-orm'
import type { Db } from '../db/index.ts'
import { instances } from '../db/schema.ts'

type Tx = Pick<Db, 'select' | 'update'>

const heldOn = (network: string) =>
  and(eq(instances.network, network), ne(instances.state, 'removed'))

/** Containers of Davit's that are or will be on a network. */
export const countInstances = (db: Tx, network: string) =>
  db.select({ n: count() }).from(instances).where(heldOn(network)).get()!.n

/** The addresses that they hold there. */
export const listHeld = (db: Tx, network: string) =>
  db
    .select({ address: instances.address })
    .from(instances)
    .where(and(heldOn(network), isNotNull(instances.address)))
    .all()
    .map(({ address }) => address!)

/** The address that was given last, whether it is still held or not. */
export const lastAddress = (db: Tx, network: string) =>
  db
    .select({ address: instances.address })
    .from(instances)
    .where(and(eq(instances.network, network), isNotNull(instances.address)))
    .orderBy(desc(instances.id))
    .limit(1)
    .get()?.address ?? null

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
