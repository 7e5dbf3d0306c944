import type { Engine } from './engine.ts'
import { orNull } from './refusals.ts'

export type ContainerState =
  'created' | 'running' | 'restarting' | 'exited' | 'paused' | 'dead' | 'removing'

export type Health = 'starting' | 'healthy' | 'unhealthy'

export type PublishedPort = { container: number; protocol: string; host: number; address: string }

export type Container = {
  id: string
  name: string
  /** As it was given when the container was made, and the id that it meant then. */
  image: string
  imageId: string
  labels: Record<string, string>
  createdAt: Date
  state: ContainerState
  exitCode: number
  oomKilled: boolean
  /** Why the engine could not start it, in its own words. */
  error: string | null
  startedAt: Date | null
  finishedAt: Date | null
  restartCount: number
  /** Null without a HEALTHCHECK. */
  health: Health | null
  tty: boolean
  /** IP address by network name, while it runs. */
  addresses: Record<string, string>
  ports: PublishedPort[]
}

export type ContainerSummary = Pick<
  Container,
  'id' | 'name' | 'image' | 'imageId' | 'labels' | 'createdAt' | 'state' | 'addresses' | 'ports'
> & {
  /** The engine's own phrase: "Up 3 minutes (healthy)". */
  status: string
}

type Inspected = {
  Id: string
  Name: string
  Image: string
  Created: string
  RestartCount: number
  Config: { Image: string; Labels: Record<string, string> | null; Tty: boolean }
  State: {
    Status: ContainerState
    ExitCode: number
    OOMKilled: boolean
    Error: string
    StartedAt: string
    FinishedAt: string
    Health?: { Status: string }
  }
  NetworkSettings: {
    Networks: Networks
    Ports: Record<string, { HostIp: string; HostPort: string }[] | null> | null
  }
}

type Listed = {
  Id: string
  Names: string[]
  Image: string
  ImageID: string
  Labels: Record<string, string> | null
  Created: number
  State: ContainerState
  Status: string
  NetworkSettings?: { Networks: Networks }
  Ports: { IP?: string; PrivatePort: number; PublicPort?: number; Type: string }[] | null
}

type Networks = Record<string, { IPAddress?: string }> | null

export async function inspectContainer(
  engine: Engine,
  id: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Container | null> {
  const path = `/containers/${encodeURIComponent(id)}/json`
  const found = await orNull(engine.request<Inspected>('GET', path, { signal }))
  return found && toContainer(found)
}

/** Newest first. Without `all`, only those that run. */
export async function listContainers(
  engine: Engine,
  options: { labels?: string[]; all?: boolean; signal?: AbortSignal | undefined } = {},
): Promise<ContainerSummary[]> {
  const { labels = [], all = false, signal } = options
  const query = { all, filters: { label: labels } }
  const found = await engine.request<Listed[]>('GET', '/containers/json', { query, signal })
  return found.map(toSummary)
}

function toContainer({ State, Config, NetworkSettings, ...found }: Inspected): Container {
  return {
    id: found.Id,
    name: found.Name.replace(/^\//, ''),
    image: Config.Image,
    imageId: found.Image,
    labels: Config.Labels ?? {},
    createdAt: new Date(found.Created),
    state: State.Status,
    exitCode: State.ExitCode,
    oomKilled: State.OOMKilled,
    error: State.Error || null,
    startedAt: toTime(State.StartedAt),
    finishedAt: toTime(State.FinishedAt),
    restartCount: found.RestartCount,
    health: toHealth(State.Health?.Status),
    tty: Config.Tty,
    addresses: toAddresses(NetworkSettings.Networks),
    ports: Object.entries(NetworkSettings.Ports ?? {}).flatMap(([port, bindings]) => {
      const [container, protocol = 'tcp'] = port.split('/')
      return (bindings ?? []).map(({ HostIp, HostPort }) => ({
        container: Number(container),
        protocol,
        host: Number(HostPort),
        address: HostIp,
      }))
    }),
  }
}

function toSummary(found: Listed): ContainerSummary {
  return {
    id: found.Id,
    name: (found.Names[0] ?? '').replace(/^\//, ''),
    image: found.Image,
    imageId: found.ImageID,
    labels: found.Labels ?? {},
    createdAt: new Date(found.Created * 1000),
    state: found.State,
    status: found.Status,
    addresses: toAddresses(found.NetworkSettings?.Networks ?? null),
    ports: (found.Ports ?? [])
      .filter((port) => port.PublicPort !== undefined)
      .map(({ PrivatePort, Type, PublicPort, IP = '' }) => ({
        container: PrivatePort,
        protocol: Type,
        host: PublicPort!,
        address: IP,
      })),
  }
}

const toAddresses = (networks: Networks) =>
  Object.fromEntries(
    Object.entries(networks ?? {}).flatMap(([name, { IPAddress }]) =>
      IPAddress ? [[name, IPAddress]] : [],
    ),
  )

/** The engine writes "never" as the year 1. */
const toTime = (text: string) => (text.startsWith('0001-') ? null : new Date(text))

const toHealth = (status: string | undefined) =>
  status === 'starting' || status === 'healthy' || status === 'unhealthy' ? status : null
