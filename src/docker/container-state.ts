export type ContainerState =
  'created' | 'running' | 'restarting' | 'exited' | 'paused' | 'dead' | 'removing'

export type Health = 'starting' | 'healthy' | 'unhealthy'

export type PublishedPort = { container: number; protocol: string; host: number; address: string }

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
