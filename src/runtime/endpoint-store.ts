import { and, desc, eq, isNotNull, isNull, like, ne, sql } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { countRows, getRow, hasRow, listRows, listValues } from '../db/queries.ts'
import { endpoints, environments, instances, servicePorts, services } from '../db/schema.ts'
import { firstServer } from '../platform/root.ts'

const heldOn = (network: string) => and(eq(endpoints.network, network), endpoints.held)

/** Counts Davit's containers that are or will be on a network. */
export const countEndpoints = (db: Tx, network: string) => countRows(db, endpoints, heldOn(network))

/** Returns the reserved addresses by instance. */
export function listHeld(db: Tx, network: string) {
  // matches the partial index, which excludes addresses that are no longer reserved
  const holds = sql`${endpoints.address} IS NOT NULL AND ${endpoints.held} = 1`
  const rows = listRows(db, endpoints, and(eq(endpoints.network, network), holds))
  return new Map(rows.map(({ instanceId, address }) => [instanceId, address!]))
}

/** The address that was assigned last, even if it is no longer reserved. */
export function lastAddress(db: Tx, network: string) {
  const hadOne = and(eq(endpoints.network, network), isNotNull(endpoints.address))
  return getRow(db, endpoints, hadOne, desc(endpoints.id))?.address ?? null
}

type Endpoint = { instanceId: string; network: string; address: string | null }

/** Without an address, another endpoint has taken it over. */
export const keepAddress = (db: Tx, { address, ...key }: Endpoint) =>
  db
    .insert(endpoints)
    .values({ ...key, address })
    .onConflictDoUpdate({
      target: [endpoints.instanceId, endpoints.network],
      set: { address },
    })
    .run()

/** For a container without a stored address: a restore found it, or it was taken over. */
export const adoptAddress = (
  db: Tx,
  { containerId, network, address }: { containerId: string; network: string; address: string },
) => {
  const isIt = and(eq(instances.containerId, containerId), ne(instances.state, 'removed'))
  const instance = getRow(db, instances, isIt)
  if (instance) keepAddress(db, { instanceId: instance.id, network, address })
}

/** Call it once the container was removed. Its addresses are reused last. */
export const releaseAddresses = (db: Tx, instanceId: string) =>
  db.update(endpoints).set({ held: false }).where(eq(endpoints.instanceId, instanceId)).run()

/** The containers that belong on a network, each with its workload. */
export const listMembers = (db: Tx, network: string) =>
  db
    .select({
      instanceId: instances.id,
      serverId: instances.serverId,
      containerId: instances.containerId,
      workloadId: instances.workloadId,
    })
    .from(endpoints)
    .innerJoin(instances, eq(instances.id, endpoints.instanceId))
    .where(and(heldOn(network), isNotNull(instances.containerId)))
    .all()

/** Its network can't be joined once it is being deleted. */
export const isJoinable = (db: Tx, serviceId: string) =>
  hasRow(db, services, and(eq(services.id, serviceId), isNull(services.deletingAt)))

/** Returns undefined when there is no such service. */
export const getServiceName = (db: Tx, serviceId: string) =>
  getRow(db, services, eq(services.id, serviceId))?.name

/** Ports of a server at which others reach apps there. */
const firstPort = 20_000
const lastPort = 29_999

/** Its ports are held like addresses of a network. */
const portsOf = (serverId: string) => `server-${serverId}`

/** Reserves a port of a server for an instance there. Returns false when all are in use. */
export const reservePort = (
  db: Db,
  { instance: { id: instanceId, serverId }, address }: { instance: OnServerRow; address: string },
) =>
  db.transaction((tx) => {
    const network = portsOf(serverId)
    const held = new Set([
      ...listHeld(tx, network).values().map(portIn),
      ...listValues(tx, servicePorts.port),
      ...(serverId === firstServer ? listValues(tx, environments.hostPort) : []),
    ])
    const all = lastPort - firstPort + 1
    const after = portIn(lastAddress(tx, network) ?? `:${firstPort - 1}`) + 1 - firstPort
    for (let tries = 0; tries < all; tries++) {
      const port = firstPort + ((after + tries) % all)
      if (held.has(port)) continue
      keepAddress(tx, { instanceId, network, address: `${address}:${port}` })
      return true
    }
    return false
  })

/** Those that are reserved at a server, or at any. */
export const listHeldPorts = (db: Tx, serverId = '%') =>
  listValues(
    db,
    endpoints.address,
    and(like(endpoints.network, portsOf(serverId)), endpoints.held, isNotNull(endpoints.address)),
  ).map((address) => portIn(address!))

type OnServerRow = { id: string; serverId: string }

const portIn = (address: string) => Number(address.slice(address.lastIndexOf(':') + 1))

/** Where an instance is reached from other servers; null without a port. */
export function publishedAt(db: Tx, { id, serverId }: OnServerRow) {
  const isIt = and(eq(endpoints.instanceId, id), eq(endpoints.network, portsOf(serverId)))
  const address = getRow(db, endpoints, and(isIt, endpoints.held))?.address
  if (!address) return null
  return { address: address.slice(0, address.lastIndexOf(':')), port: portIn(address) }
}
