import type { Abortable, Engine } from './engine.ts'

export type ContainerSummary = ReturnType<typeof toSummary>

export type SentContainer = {
  Id: string
  Names: string[]
  Image: string
  ImageID: string
  Labels: Record<string, string> | null
  Created: number
  State: ContainerState
  Status: string
  NetworkSettings?: { Networks: SentNetworks }
  Ports: { IP?: string; PrivatePort: number; PublicPort?: number; Type: string }[] | null
}

/** Newest first. Without `all`, only those that run. */
export async function listContainers(
  engine: Engine,
  { labels = [], all = false, signal }: { labels?: string[]; all?: boolean } & Abortable = {},
): Promise<ContainerSummary[]> {
  const query = { all, filters: { label: labels } }
  const found = await engine.request<SentContainer[]>('GET', '/containers/json', { query, signal })
  return found.map((one) => toSummary(engine, one))
}

export const toSummary = ({ serverId }: Pick<Engine, 'serverId'>, found: SentContainer) => ({
  serverId,
  id: found.Id,
  name: toName(found.Names[0] ?? ''),
  image: found.Image,
  imageId: found.ImageID,
  labels: found.Labels ?? {},
  createdAt: new Date(found.Created * 1000),
  state: found.State,
  /** The engine's own phrase: "Up 3 minutes (healthy)". */
  status: found.Status,
  ...readStatus(found.Status),
  addresses: toAddresses(found.NetworkSettings?.Networks ?? null),
  ports: (found.Ports ?? [])
    .filter((port) => port.PublicPort !== undefined)
    .map(({ PrivatePort, Type, PublicPort, IP = '' }) => ({
      container: PrivatePort,
      protocol: Type,
      host: PublicPort!,
      address: IP,
    })),
})

/** Only the phrase has health and exit code. The code is null while it runs, and before its first start. */
export function readStatus(status: string) {
  const health = /^Up .*\((?:health: )?(\w+)\)$/.exec(status)?.[1]
  const exitCode = /^(?:Exited|Restarting) \((-?\d+)\)/.exec(status)?.[1]
  return { health: toHealth(health), exitCode: exitCode === undefined ? null : Number(exitCode) }
}

export type ContainerState =
  'created' | 'running' | 'restarting' | 'exited' | 'paused' | 'dead' | 'removing'

export type Health = 'starting' | 'healthy' | 'unhealthy'

export type PublishedPort = { container: number; protocol: string; host: number; address: string }

/** A port published for both IPv4 and IPv6 is one entry. */
export function publishedOnce(ports: PublishedPort[]) {
  const seen = new Map(
    ports.map((port) => [`${port.host} ${port.container}/${port.protocol}`, port]),
  )
  return [...seen.values()].map(({ host, container, protocol }) => ({ host, container, protocol }))
}

/** As the engine sends them, in its list and for a single container. */
export type SentNetworks = Record<string, { IPAddress?: string }> | null

export const toName = (sent: string) => sent.replace(/^\//, '')

/** IP addresses by network name; empty while it doesn't run. */
export const toAddresses = (networks: SentNetworks) =>
  Object.fromEntries(
    Object.entries(networks ?? {}).flatMap(([name, { IPAddress }]) =>
      IPAddress ? [[name, IPAddress]] : [],
    ),
  )

export const toHealth = (status: string | undefined): Health | null =>
  status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : null
