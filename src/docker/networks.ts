import type { Abortable, Engine } from './engine.ts'
import { EngineError } from './failures.ts'
import { isStatus, orNull, unlessMissing } from './refusals.ts'

export type Network = Awaited<ReturnType<typeof listNetworks>>[number]

type Listed = {
  Id: string
  Name: string
  Driver: string
  Labels: Record<string, string> | null
  Options: Record<string, string> | null
  IPAM: { Config: { Subnet?: string; Gateway?: string }[] | null } | null
}

export async function listNetworks(
  engine: Engine,
  { labels = [], signal }: { labels?: string[] } & Abortable = {},
) {
  const query = { filters: { label: labels } }
  const found = await engine.request<Listed[]>('GET', '/networks', { query, signal })
  return found.map((network) => ({
    id: network.Id,
    name: network.Name,
    driver: network.Driver,
    labels: network.Labels ?? {},
    /** An overlay between servers. */
    isEncrypted: 'encrypted' in (network.Options ?? {}),
    /** In CIDR notation. */
    subnets: (network.IPAM?.Config ?? []).flatMap(({ Subnet }) => Subnet ?? []),
  }))
}

type Joined = {
  Id: string
  NetworkSettings: {
    Networks: Record<
      string,
      { IPAddress: string; IPAMConfig: { IPv4Address?: string } | null }
    > | null
  }
}

/** Null when there is no network of that name. */
export async function networkUse(engine: Engine, name: string, { signal }: Abortable = {}) {
  const query = { all: true, filters: { network: [name] } }
  const [network, containers] = await Promise.all([
    orNull(engine.request<Listed>('GET', `/networks/${encodeURIComponent(name)}`, { signal })),
    engine.request<Joined[]>('GET', '/containers/json', { query, signal }),
  ])
  if (!network) return null
  const ranges = network.IPAM?.Config ?? []
  const { Subnet = null, Gateway = null } = ranges.find(({ Subnet }) => Subnet?.includes('.')) ?? {}
  return {
    /** In CIDR notation; null without IPv4. */
    subnet: Subnet,
    /** Null when the engine chose the first address of the subnet. */
    gateway: Gateway,
    /** Addresses of running containers, and those reserved for the next start of others. */
    addresses: containers.flatMap(({ Id: containerId, NetworkSettings: { Networks } }) => {
      const { IPAddress = '', IPAMConfig } = Networks?.[name] ?? {}
      const fixed = IPAMConfig?.IPv4Address
      const address = fixed || IPAddress
      return address ? [{ containerId, address, isFixed: Boolean(fixed) }] : []
    }),
  }
}

/** Returns the id of a new bridge or attachable overlay; an existing name is refused with status 409. */
export async function createNetwork(
  engine: Engine,
  {
    name,
    subnet,
    labels = {},
    isOverlay = false,
    isEncrypted = false,
    signal,
  }: {
    name: string
    subnet?: string
    labels?: Record<string, string>
    /** Of a swarm that this engine manages. */
    isOverlay?: boolean
    /** Between the members of the swarm, by IPsec; only of an overlay. */
    isEncrypted?: boolean
  } & Abortable,
): Promise<string> {
  const { Id } = await engine.request<{ Id: string }>('POST', '/networks/create', {
    body: {
      Name: name,
      Driver: isOverlay ? 'overlay' : 'bridge',
      ...(isOverlay && { Attachable: true, ...(isEncrypted && { Options: { encrypted: '' } }) }),
      // without it older engines create a second network of the same name
      CheckDuplicate: true,
      Labels: labels,
      ...(subnet && { IPAM: { Config: [{ Subnet: subnet }] } }),
    },
    signal,
  })
  return Id
}

/** The container needn't run. Without an address the engine chooses one at each start. */
export const connectNetwork = (
  engine: Engine,
  network: string,
  {
    containerId,
    address,
    aliases = [],
    ownNames = [],
    signal,
  }: {
    containerId: string
    address?: string | undefined
    /** Further names of the container on it. */
    aliases?: string[] | undefined
    /** Names that it finds here first; of others, the network whose own name sorts first decides. */
    ownNames?: string[] | undefined
  } & Abortable,
) =>
  engine.request('POST', `/networks/${encodeURIComponent(network)}/connect`, {
    body: {
      Container: containerId,
      EndpointConfig: {
        ...(address !== undefined && { IPAMConfig: { IPv4Address: address } }),
        ...(aliases.length > 0 && { Aliases: aliases }),
        // a link to a name is followed before names of any network are looked for
        ...(ownNames.length > 0 && { Links: ownNames.map((name) => `${name}:${name}`) }),
      },
    },
    signal,
  })

/** Returns false when there is no such network or container. A container that isn't on it is refused. */
export const disconnectNetwork = (
  engine: Engine,
  network: string,
  { containerId, signal }: { containerId: string } & Abortable,
) =>
  unlessMissing(
    engine.request('POST', `/networks/${encodeURIComponent(network)}/disconnect`, {
      body: { Container: containerId, Force: true },
      signal,
    }),
  )

/** Ids of the connected containers, running or not, filtered by labels if given. */
export async function listJoined(
  engine: Engine,
  network: string,
  { labels = [], signal }: { labels?: string[] } & Abortable = {},
) {
  const query = { all: true, filters: { network: [network], label: labels } }
  const found = await engine.request<Joined[]>('GET', '/containers/json', { query, signal })
  return found.map(({ Id }) => Id)
}

/** False when it didn't exist. One with connected containers is refused with status 403, an overlay with 409. */
export const removeNetwork = (engine: Engine, id: string, { signal }: Abortable = {}) =>
  unlessMissing(
    engine.request('DELETE', `/networks/${encodeURIComponent(id)}`, { signal }).catch((error) => {
      const isUsed = isStatus(error, 400) && /in use by task/.test((error as Error).message)
      throw isUsed ? new EngineError(409, (error as Error).message) : error
    }),
  )

/** True when a creation failed because the subnet overlaps with a network created meanwhile. */
export const isSubnetTaken = (error: unknown) =>
  isStatus(error, 403) && /overlaps|already allocated/i.test((error as Error).message)
