export type ContainerState =
  'created' | 'running' | 'restarting' | 'exited' | 'paused' | 'dead' | 'removing'

export type Health = 'starting' | 'healthy' | 'unhealthy'

export type PublishedPort = { container: number; protocol: string; host: number; address: string }

/** A port is published for IPv4 and for IPv6: one entry for both. */
export function publishedOnce(ports: PublishedPort[]) {
  const seen = new Map(
    ports.map((port) => [`${port.host} ${port.container}/${port.protocol}`, port]),
  )
  return [...seen.values()].map(({ host, container, protocol }) => ({ host, container, protocol }))
}

/** The engine's own form of the networks of a container, in its list and for one alone. */
export type SentNetworks = Record<string, { IPAddress?: string }> | null

export const toName = (sent: string) => sent.replace(/^\//, '')

/** IP address by network name; none while it does not run. */
export const toAddresses = (networks: SentNetworks) =>
  Object.fromEntries(
    Object.entries(networks ?? {}).flatMap(([name, { IPAddress }]) =>
      IPAddress ? [[name, IPAddress]] : [],
    ),
  )

export const toHealth = (status: string | undefined): Health | null =>
  status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : null
