import type { Db } from '../db/index.ts'
import { freeAddress, gatewayOf, roomOf } from '../docker/index.ts'
import type { Docker } from '../docker/index.ts'
import { AppError, Failure } from '../platform/errors.ts'
import {
  adoptAddress,
  countInstances,
  keepAddress,
  lastAddress,
  listHeld,
} from './address-store.ts'

type AddressDeps = { db: Db; docker: Pick<Docker, 'networkUse'> }

type Row = { id: string; address: string | null }

/**
 * Gives each instance an address of its own on the network, and stores it: the engine would give a
 * container another one at each start, and that of a stopped one to the next that comes. It is held
 * until the container is removed. Where none is free, those of the instances to be replaced are taken
 * over: these must stop first, and are returned.
 */
export async function reserveAddresses<Replaced extends Row>(
  { db, docker }: AddressDeps,
  {
    network,
    instances,
    replaced,
    signal,
  }: { network: string; instances: { id: string }[]; replaced: Replaced[]; signal: AbortSignal },
): Promise<{ addresses: ReadonlyMap<string, string>; takenOver: Replaced[] }> {
  const subnet = instances.length > 0 ? await lookAt({ db, docker }, network, signal) : null
  const addresses = new Map<string, string>()
  if (!subnet) return { addresses, takenOver: [] } // without IPv4 the engine chooses
  return db.transaction(
    (tx) => {
      const used = new Set([...subnet.used, ...listHeld(tx, network).map(({ address }) => address)])
      const givers = replaced.filter(({ address }) => address !== null)
      const takenOver: Replaced[] = []
      let last = lastAddress(tx, network)
      for (const { id } of instances) {
        const free = freeAddress({ subnet: subnet.cidr, used, last })
        const giver = free === null ? givers.pop() : undefined
        const address = free ?? giver?.address
        if (!address) throw new Failure('network_full', sentence(subnet.cidr), hint)
        if (giver) {
          takenOver.push(giver)
          keepAddress(tx, { id: giver.id, network, address: null })
        }
        keepAddress(tx, { id, network, address })
        used.add(address)
        addresses.set(id, address)
        last = address
      }
      return { addresses, takenOver }
    },
    { behavior: 'immediate' },
  )
}

/** What is known of a network's addresses; null when there is none, or it has no IPv4. */
async function lookAt({ db, docker }: AddressDeps, network: string, signal: AbortSignal) {
  const use = await docker.networkUse(network, { signal })
  if (!use?.subnet) return null
  const held = new Set(listHeld(db, network).map(({ address }) => address))
  for (const { containerId, address, isFixed } of use.addresses)
    if (isFixed && !held.has(address)) adoptAddress(db, { containerId, network, address })
  const used = [
    use.gateway ?? gatewayOf(use.subnet),
    ...use.addresses.map(({ address }) => address),
  ]
  return { cidr: use.subnet, used: new Set(used) }
}

/** Fewer containers than these find room on every network that Davit makes. */
const fewContainers = 30

/** Refuses what would find no address for so many containers; the engine is asked only where it could be so. */
export async function refuseFullNetwork(
  { db, docker }: AddressDeps,
  {
    network,
    workloadId,
    wanted,
    signal,
  }: { network: string; workloadId: string; wanted: number; signal: AbortSignal },
) {
  if (countInstances(db, network) + wanted <= fewContainers) return
  const subnet = await lookAt({ db, docker }, network, signal)
  if (!subnet) return
  const held = listHeld(db, network)
  const used = subnet.used.union(new Set(held.map(({ address }) => address)))
  const own = held.filter((instance) => instance.workloadId === workloadId).length
  // the gateway is among those used, and not among those there is room for
  if (used.size - 1 - own + wanted <= roomOf(subnet.cidr)) return
  throw new AppError('conflict', `${sentence(subnet.cidr)} ${hint}`)
}

const sentence = (cidr: string) =>
  `The network is full: all ${roomOf(cidr)} addresses of ${cidr} are taken.`

const hint =
  'Delete environments or services that aren’t needed, or use another project, which has a network of its own. Containers that were joined to the network by hand count too.'
