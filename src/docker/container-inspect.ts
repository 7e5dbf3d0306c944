import { setTimeout as sleep } from 'node:timers/promises'
import type { RestartPolicy } from './container-config.ts'
import type { ContainerState, Health, PublishedPort, SentNetworks } from './container-state.ts'
import { toAddresses, toHealth, toName } from './container-state.ts'
import type { Abortable, Engine } from './engine.ts'
import { healthTestOf } from './health-test.ts'
import type { HealthConfig, HealthTest } from './health-test.ts'
import { orNull } from './refusals.ts'

export type Container = {
  id: string
  name: string
  /** As it was given when the container was made, and the id that it meant then. */
  image: string
  imageId: string
  /** Entrypoint and arguments, the image's own where none were given. */
  command: string[]
  /** `KEY=value`, the image's own among them. */
  env: string[]
  /** Null where the image leaves it to the engine: root. */
  user: string | null
  workingDir: string | null
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
  restartPolicy: RestartPolicy
  /** Null without a HEALTHCHECK. */
  health: Health | null
  /** What its HEALTHCHECK runs; null without one. */
  healthTest: HealthTest | null
  /** What the engine's last run of it wrote, 4 KiB at most; null before that. */
  healthOutput: string | null
  tty: boolean
  logDriver: string
  privileged: boolean
  /** Bytes; null without a limit, like the two that follow. */
  memoryLimit: number | null
  cpus: number | null
  pidsLimit: number | null
  mounts: Mount[]
  networks: JoinedNetwork[]
  /** IP address by network name, while it runs. */
  addresses: Record<string, string>
  ports: PublishedPort[]
  /** Addresses of the host on which it was made to be published, whether it runs or not. */
  hostAddresses: string[]
  /** Those that no port of the host is meant to lead to. */
  exposedPorts: { container: number; protocol: string }[]
}

export type Mount = {
  /** Such as `volume`, `bind`, `tmpfs`. */
  type: string
  /** A volume's name or a path of the host; null where there is neither. */
  source: string | null
  destination: string
  readOnly: boolean
}

export type JoinedNetwork = {
  name: string
  /** Null while it does not run. */
  address: string | null
  gateway: string | null
  mac: string | null
  aliases: string[]
}

type Inspected = {
  Id: string
  Name: string
  Image: string
  Created: string
  Path: string
  Args: string[] | null
  RestartCount: number
  Config: {
    Image: string
    Labels: Record<string, string> | null
    Tty: boolean
    Env: string[] | null
    ExposedPorts?: Record<string, object> | null
    User: string
    WorkingDir: string
  } & HealthConfig
  HostConfig: {
    RestartPolicy: { Name: string; MaximumRetryCount: number } | null
    LogConfig: { Type: string }
    Privileged: boolean
    Memory: number
    NanoCpus: number
    CpuQuota: number
    CpuPeriod: number
    PidsLimit: number | null
    PortBindings: Bindings | null
    Tmpfs?: Record<string, string> | null
  }
  State: {
    Status: ContainerState
    ExitCode: number
    OOMKilled: boolean
    Error: string
    StartedAt: string
    FinishedAt: string
    Health?: { Status: string; Log?: { Output: string }[] | null }
  }
  Mounts: { Type: string; Name?: string; Source: string; Destination: string; RW: boolean }[] | null
  NetworkSettings: {
    Networks: Record<string, SentNetwork> | null
    Ports: Bindings | null
  }
}

type Bindings = Record<string, { HostIp: string; HostPort: string }[] | null>

type SentNetwork = NonNullable<SentNetworks>[string] & {
  Gateway?: string
  MacAddress?: string
  Aliases?: string[] | null
}

export async function inspectContainer(
  engine: Engine,
  id: string,
  { signal }: Abortable = {},
): Promise<Container | null> {
  const path = `/containers/${encodeURIComponent(id)}/json`
  const found = await orNull(engine.request<Inspected>('GET', path, { signal }))
  return found && toContainer(found)
}

/** Milliseconds in which the engine hears why the kernel killed a process: it is told apart from its exit. */
const reasonDelay = 5000

/** The same for a container that has ended: of one that was killed it is known whether for its memory. */
export async function inspectEnded(
  engine: Engine,
  id: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<Container | null> {
  const deadline = performance.now() + reasonDelay
  for (;;) {
    const found = await inspectContainer(engine, id, { signal })
    const isOpen = found?.exitCode === killed && !found.oomKilled
    if (!isOpen || performance.now() > deadline) return found
    await sleep(100, undefined, { signal })
  }
}

/** The exit code of a process that SIGKILL ended. */
export const killed = 137

function toContainer(found: Inspected): Container {
  const { State, Config, HostConfig, NetworkSettings } = found
  return {
    id: found.Id,
    name: toName(found.Name),
    image: Config.Image,
    imageId: found.Image,
    command: [found.Path, ...(found.Args ?? [])],
    env: Config.Env ?? [],
    user: Config.User || null,
    workingDir: Config.WorkingDir || null,
    labels: Config.Labels ?? {},
    createdAt: new Date(found.Created),
    state: State.Status,
    exitCode: State.ExitCode,
    oomKilled: State.OOMKilled,
    error: State.Error || null,
    startedAt: toTime(State.StartedAt),
    finishedAt: toTime(State.FinishedAt),
    restartCount: found.RestartCount,
    restartPolicy: toPolicy(HostConfig.RestartPolicy),
    health: toHealth(State.Health?.Status),
    healthTest: healthTestOf(Config),
    healthOutput: State.Health?.Log?.at(-1)?.Output ?? null,
    tty: Config.Tty,
    logDriver: HostConfig.LogConfig.Type,
    privileged: HostConfig.Privileged,
    memoryLimit: HostConfig.Memory || null,
    cpus: toCpus(HostConfig),
    pidsLimit: (HostConfig.PidsLimit ?? 0) > 0 ? HostConfig.PidsLimit : null,
    mounts: toMounts(found),
    networks: toNetworks(found),
    addresses: toAddresses(NetworkSettings.Networks),
    ports: toPublished(NetworkSettings.Ports ?? {}),
    hostAddresses: toPublished(found.HostConfig.PortBindings ?? {}).map(({ address }) => address),
    exposedPorts: toExposed(found),
  }
}

function toPolicy(policy: Inspected['HostConfig']['RestartPolicy']): RestartPolicy {
  const { Name = 'no', MaximumRetryCount = 0 } = policy ?? {}
  if (Name === 'on-failure') return { name: Name, maximumRetries: MaximumRetryCount }
  return { name: Name === 'always' || Name === 'unless-stopped' ? Name : 'no' }
}

function toCpus({ NanoCpus, CpuQuota, CpuPeriod }: Inspected['HostConfig']) {
  if (NanoCpus > 0) return NanoCpus / 1e9
  return CpuQuota > 0 ? CpuQuota / (CpuPeriod || defaultPeriod) : null
}

/** Microseconds over which the kernel gives out a quota. */
const defaultPeriod = 100_000

/** What `docker run --tmpfs` makes is not among the engine's mounts. */
const toMounts = ({ Mounts, HostConfig }: Inspected): Mount[] => [
  ...(Mounts ?? []).map(({ Type, Name, Source, Destination, RW }) => ({
    type: Type,
    source: Name || Source || null,
    destination: Destination,
    readOnly: !RW,
  })),
  ...Object.entries(HostConfig.Tmpfs ?? {}).map(([destination, options]) => ({
    type: 'tmpfs',
    source: null,
    destination,
    readOnly: options.split(',').includes('ro'),
  })),
]

/** The engine gives every container its own short id as an alias. */
const toNetworks = ({ Id, NetworkSettings }: Inspected): JoinedNetwork[] =>
  Object.entries(NetworkSettings.Networks ?? {}).map(([name, network]) => ({
    name,
    address: network.IPAddress || null,
    gateway: network.Gateway || null,
    mac: network.MacAddress || null,
    aliases: (network.Aliases ?? []).filter((alias) => !Id.startsWith(alias)),
  }))

const toPublished = (ports: Bindings): PublishedPort[] =>
  Object.entries(ports).flatMap(([port, bindings]) =>
    (bindings ?? []).map(({ HostIp, HostPort }) => ({
      ...toPort(port),
      host: Number(HostPort),
      address: HostIp,
    })),
  )

/** One that does not run has its ports in its configuration only. */
const toExposed = ({ Config, HostConfig }: Inspected) =>
  Object.keys(Config.ExposedPorts ?? {})
    .filter((port) => !HostConfig.PortBindings?.[port]?.length)
    .map(toPort)

function toPort(port: string) {
  const [container, protocol = 'tcp'] = port.split('/')
  return { container: Number(container), protocol }
}

/** The engine writes "never" as the year 1. */
const toTime = (text: string) => (text.startsWith('0001-') ? null : new Date(text))
