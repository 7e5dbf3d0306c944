import { setTimeout as sleep } from 'node:timers/promises'
import type { RestartPolicy } from './container-config.ts'
import { toAddresses, toHealth, toName } from './container-list.ts'
import type { ContainerState, PublishedPort, SentNetworks } from './container-list.ts'
import type { Abortable, Engine } from './engine.ts'
import { healthTestOf } from './health-test.ts'
import type { HealthConfig } from './health-test.ts'
import { orNull } from './refusals.ts'

export type Container = ReturnType<typeof toContainer>
export type Mount = Container['mounts'][number]

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
  return found && toContainer(engine, found)
}

/** Milliseconds until the engine knows why the kernel killed a process: it hears that after the exit. */
const reasonDelay = 5000

/**
 * Inspects a container that has ended. If it was killed, waits until the engine knows whether that was for
 * its memory. With `endedAt` also waits for one that is still shown as running: a busy engine reports the end
 * first.
 */
export async function inspectEnded(
  engine: Engine,
  id: string,
  { signal, endedAt }: Abortable & { endedAt?: Date | undefined } = {},
): Promise<Container | null> {
  const deadline = performance.now() + reasonDelay
  for (;;) {
    const isLast = performance.now() > deadline // a slow response shows a moment before it arrived
    const found = await inspectContainer(engine, id, { signal })
    const isLate = found?.state === 'running' && endedAt && found.startedAt! < endedAt
    const isOpen = isLate || (found?.exitCode === killed && !found.oomKilled)
    if (!isOpen || isLast) return found
    await sleep(100, undefined, { signal })
  }
}

/** The exit code of a process that SIGKILL ended. */
export const killed = 137

function toContainer({ serverId }: Engine, found: Inspected) {
  const { State, Config, HostConfig, NetworkSettings } = found
  return {
    serverId,
    id: found.Id,
    name: toName(found.Name),
    /** The reference the container was created with, and the id it had then. */
    image: Config.Image,
    imageId: found.Image,
    /** Entrypoint and arguments, by default the image's. */
    command: [found.Path, ...(found.Args ?? [])],
    /** `KEY=value`, including those of the image. */
    env: Config.Env ?? [],
    /** Null when the image doesn't set it: then it is root. */
    user: Config.User || null,
    workingDir: Config.WorkingDir || null,
    labels: Config.Labels ?? {},
    createdAt: new Date(found.Created),
    state: State.Status,
    exitCode: State.ExitCode,
    oomKilled: State.OOMKilled,
    /** The engine's message when it couldn't start it. */
    error: State.Error || null,
    startedAt: toTime(State.StartedAt),
    finishedAt: toTime(State.FinishedAt),
    restartCount: found.RestartCount,
    restartPolicy: toPolicy(HostConfig.RestartPolicy),
    /** Null without a HEALTHCHECK. */
    health: toHealth(State.Health?.Status),
    /** Null without a HEALTHCHECK. */
    healthTest: healthTestOf(Config),
    /** The output of its last health check, at most 4 KiB; null before that. */
    healthOutput: State.Health?.Log?.at(-1)?.Output ?? null,
    tty: Config.Tty,
    logDriver: HostConfig.LogConfig.Type,
    privileged: HostConfig.Privileged,
    /** In bytes. Null without a limit, like the two that follow. */
    memoryLimit: HostConfig.Memory || null,
    cpus: toCpus(HostConfig),
    pidsLimit: (HostConfig.PidsLimit ?? 0) > 0 ? HostConfig.PidsLimit : null,
    mounts: toMounts(found),
    networks: toNetworks(found),
    /** IP addresses by network name, while it runs. */
    addresses: toAddresses(NetworkSettings.Networks),
    ports: toPublished(NetworkSettings.Ports ?? {}),
    /** Addresses of the host on which it is configured to be published, even while it doesn't run. */
    hostAddresses: toPublished(HostConfig.PortBindings ?? {}).map(({ address }) => address),
    /** Exposed ports that aren't published. */
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

/** The default period of a CPU quota, in microseconds. */
const defaultPeriod = 100_000

/** The engine doesn't list `docker run --tmpfs` among the mounts. */
const toMounts = ({ Mounts, HostConfig }: Inspected) => [
  ...(Mounts ?? []).map(({ Type, Name, Source, Destination, RW }) => ({
    /** Such as `volume`, `bind`, `tmpfs`. */
    type: Type,
    /** A volume's name or a path of the host; null when there is neither. */
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

/** Omits the alias that the engine gives every container, its own short id. */
const toNetworks = ({ Id, NetworkSettings }: Inspected) =>
  Object.entries(NetworkSettings.Networks ?? {}).map(([name, network]) => ({
    name,
    /** Null while it doesn't run. */
    address: network.IPAddress || null,
    gateway: network.Gateway || null,
    mac: network.MacAddress || null,
    aliases: (network.Aliases ?? []).filter((alias) => alias !== Id.slice(0, 12)),
  }))

const toPublished = (ports: Bindings): PublishedPort[] =>
  Object.entries(ports).flatMap(([port, bindings]) =>
    (bindings ?? []).map(({ HostIp, HostPort }) => ({
      ...toPort(port),
      host: Number(HostPort),
      address: HostIp,
    })),
  )

/** A stopped container has its ports only in its configuration. */
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
