import type { Db, Tx } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { freeAddress, gatewayOf, roomOf } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import {
  adoptAddress,
  countEndpoints,
  getServiceName,
  keepAddress,
  lastAddress,
  listHeld,
} from './endpoint-store.ts'
import { listInstances } from './store.ts'
import { networkNameOf } from './workload.ts'

type AddressDeps = { db: Db; docker: Pick<Docker, 'networkUse'> }

/**
 * Reserves an address on the network for each instance, and stores it: Docker would assign a new one at each
 * start, and reuse that of a stopped container. It stays reserved until the container is removed. When none
 * is free, the addresses of the instances to be replaced are reused: those must stop first, and are returned.
 */
export async function reserveAddresses<Replaced extends { id: string }>(
  { db, docker }: AddressDeps,
  {
    network,
    instances,
    replaced,
    signal,
  }: { network: string; instances: { id: string }[]; replaced: Replaced[]; signal: AbortSignal },
): Promise<{ addresses: ReadonlyMap<string, string>; takenOver: Replaced[] }> {
  const use = instances.length > 0 ? await networkUse({ db, docker }, network, signal) : null
  const addresses = new Map<string, string>()
  return asWriter(db, (tx) => {
    if (!use) {
      // without IPv4 the engine chooses
      for (const { id } of instances) keepAddress(tx, { instanceId: id, network, address: null })
      return { addresses, takenOver: [] }
    }
    const held = listHeld(tx, network)
    const used = new Set([...use.used, ...held.values()])
    const givers = replaced.filter(({ id }) => held.has(id))
    const takenOver: Replaced[] = []
    let last = lastAddress(tx, network)
    for (const { id } of instances) {
      const free = freeAddress({ subnet: use.subnet, used, last })
      const giver = free === null ? givers.pop() : undefined
      const address = giver ? held.get(giver.id) : free
      if (!address) throw networkFull(tx, network, use.subnet)
      if (giver) {
        takenOver.push(giver)
        keepAddress(tx, { instanceId: giver.id, network, address: null })
      }
      keepAddress(tx, { instanceId: id, network, address })
      used.add(address)
      addresses.set(id, address)
      last = address
    }
    return { addresses, takenOver }
  })
}

/** Returns null when the network doesn't exist or has no IPv4. */
async function networkUse({ db, docker }: AddressDeps, network: string, signal: AbortSignal) {
  const found = await docker.networkUse(network, { signal })
  if (!found?.subnet) return null
  const { subnet, gateway, addresses } = found
  const held = new Set(listHeld(db, network).values())
  for (const { containerId, address, isFixed } of addresses)
    if (isFixed && !held.has(address)) adoptAddress(db, { containerId, network, address })
  return {
    subnet,
    used: new Set([gateway ?? gatewayOf(subnet), ...addresses.map(({ address }) => address)]),
  }
}

/** Every network that Davit creates has room for more containers than this. */
const fewContainers = 30

/** True when the networks of these components surely have room for containers that aren't needed. */
export const areRoomy = (
  db: Tx,
  workload: { id: string; projectId?: string },
  components: { joins: string[] }[],
) =>
  [workload, ...components.flatMap(({ joins }) => joins.map((id) => ({ id })))].every(
    (one) => countEndpoints(db, networkNameOf(one)) <= fewContainers,
  )

/** Milliseconds before the check gives up on an unresponsive engine and leaves it to the job. */
const timeoutMs = 2000

/**
 * Throws when the network has no room for so many containers of a workload, which may reuse its own
 * addresses. The engine is only queried when it could matter; the job checks again in any case.
 */
export async function refuseFullNetwork(
  { db, docker }: AddressDeps,
  {
    workload,
    wanted,
    joins,
  }: {
    workload: { id: string; projectId?: string }
    wanted: number
    /** The id of a service whose network is checked instead of the workload's own. */
    joins?: string
  },
) {
  const network = networkNameOf(joins === undefined ? workload : { id: joins })
  if (countEndpoints(db, network) + wanted <= fewContainers) return
  const signal = AbortSignal.timeout(timeoutMs)
  const use = await networkUse({ db, docker }, network, signal).catch(() => null)
  if (!use) return
  const held = listHeld(db, network)
  const used = use.used.union(new Set(held.values()))
  const own = listInstances(db, workload.id).filter(({ id }) => held.has(id))
  // the gateway is among the used ones, but not part of the capacity
  if (used.size - 1 - own.length + wanted <= roomOf(use.subnet)) return
  const { message, hint } = networkFull(db, network, use.subnet)
  throw new AppError('conflict', `${message} ${hint}`)
}

function networkFull(db: Tx, network: string, cidr: string) {
  const service = getServiceName(db, network.slice(networkNameOf({ id: '' }).length))
  const whose = service === undefined ? '' : ` of the service ${service}`
  const advice =
    service === undefined
      ? 'Delete environments that aren’t needed, run fewer replicas, or use another project, which has a network of its own.'
      : 'Unlink apps that don’t need it, or run fewer replicas of those that do, then deploy these apps again.'
  return new Failure(
    'network_full',
    `The network${whose} is full: all ${roomOf(cidr)} addresses of ${cidr} are in use.`,
    `${advice} Containers that were connected to the network by hand count too.`,
  )
}
