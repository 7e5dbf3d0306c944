export type RestartPolicy =
  { name: 'no' | 'always' | 'unless-stopped' } | { name: 'on-failure'; maximumRetries: number }

/** Times in milliseconds. Omitted values are the image's, then the engine's default. */
export type HealthCheck =
  | { disabled: true }
  | {
      disabled?: false
      /** `['CMD', …]` or `['CMD-SHELL', line]`. */
      test?: string[]
      interval?: number
      timeout?: number
      startPeriod?: number
      retries?: number
    }

/** Options that give access to the host: only what an admin has explicitly allowed. */
export type Granted = {
  privileged?: boolean
  hostNetwork?: boolean
  hostPid?: boolean
  hostIpc?: boolean
  /** Security profiles of the engine to disable. */
  unconfined?: ('seccomp' | 'apparmor')[]
  binds?: { source: string; path: string; readOnly: boolean }[]
  devices?: { host: string; path: string; permissions: string }[]
}

export type ContainerOptions = {
  name: string
  image: string
  /** Such as `linux/arm64`; by default the engine's own. */
  platform?: string
  command?: string[]
  /** An empty list means none, not the image's. */
  entrypoint?: string[]
  env?: Record<string, string>
  labels?: Record<string, string>
  user?: string
  workingDir?: string
  hostname?: string
  /** `container:` and an id shares the network of that container, which must run. */
  network: string
  networkAliases?: string[]
  /** An IPv4 address on its network; by default the engine chooses one at each start. */
  address?: string
  /** `name:address`. */
  extraHosts?: string[]
  /** With `host` 0 the engine chooses a port. TCP by default. */
  ports?: { container: number; host: number; address: string; protocol?: 'tcp' | 'udp' }[]
  memoryBytes: number
  /** Memory reservation. */
  reservedBytes?: number
  shmBytes?: number
  /** May be a fraction of a core. */
  cpus: number
  pidsLimit: number
  ulimits?: { name: string; soft: number; hard: number }[]
  sysctls?: Record<string, string>
  /** The capabilities to keep: all others are dropped. */
  capabilities?: string[]
  /** Named volumes only: a path of the host can't be mounted. */
  volumes?: { name: string; path: string; readOnly?: boolean }[]
  /** Paths of volumes without a name, which are removed with it. */
  scratch?: string[]
  tmpfs?: { path: string; options: string }[]
  /** True for a read-only root file system. */
  readOnly?: boolean
  healthCheck?: HealthCheck
  restart?: RestartPolicy
  /** Adds an init, so that an app that ignores SIGTERM stops at once. Default: unless its command is one. */
  init?: boolean
  /** True for a terminal with open input. */
  tty?: boolean
  /** True for input that ends with the first one attached. */
  takesInput?: boolean
  /** The same, and output that isn't logged. */
  piped?: boolean
  /** SIGTERM or the image's stop signal by default. */
  stopSignal?: string
  /** Seconds between the stop signal and SIGKILL. */
  stopTimeout?: number
  logs?: { maxSize: string; maxFiles: number }
  oomScoreAdj?: number
  granted?: Granted
}

/**
 * What most images need to start as root and switch to a user; all other capabilities are dropped. Without
 * KILL an init can't pass the stop signal on to that user's processes, which would then be killed without it.
 */
export const compatCapabilities = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'SETGID',
  'SETUID',
  'NET_BIND_SERVICE',
  'KILL',
]

/**
 * Converts the options to the engine's form. It is an allow-list: what isn't built here can't be requested,
 * and privileges, devices, host namespaces and bind mounts only through grants.
 */
export function containerConfig(options: ContainerOptions) {
  const { granted = {} } = options
  const network = granted.hostNetwork ? 'host' : options.network
  const isShared = granted.hostNetwork || network.startsWith('container:')
  const ports = isShared ? [] : (options.ports ?? [])
  const endpoint = {
    Aliases: options.networkAliases ?? [],
    ...(options.address !== undefined && { IPAMConfig: { IPv4Address: options.address } }),
  }
  return {
    Image: options.image,
    ...(options.command && { Cmd: options.command }),
    ...(options.entrypoint && { Entrypoint: options.entrypoint }),
    Env: Object.entries(options.env ?? {}).map(([key, value]) => `${key}=${value}`),
    Labels: options.labels ?? {},
    ...(options.user !== undefined && { User: options.user }),
    ...(options.workingDir !== undefined && { WorkingDir: options.workingDir }),
    ...(options.hostname !== undefined && { Hostname: options.hostname }),
    ExposedPorts: Object.fromEntries(ports.map((port) => [portKey(port), {}])),
    ...(options.scratch && {
      Volumes: Object.fromEntries(options.scratch.map((path) => [path, {}])),
    }),
    ...(options.healthCheck && { Healthcheck: healthCheck(options.healthCheck) }),
    ...(options.tty && { Tty: true, OpenStdin: true }),
    ...((options.piped || options.takesInput) && {
      AttachStdin: true,
      OpenStdin: true,
      StdinOnce: true,
    }),
    ...(options.stopSignal !== undefined && { StopSignal: options.stopSignal }),
    ...(options.stopTimeout !== undefined && { StopTimeout: options.stopTimeout }),
    HostConfig: { ...hostConfig(options), NetworkMode: network, PortBindings: bindings(ports) },
    NetworkingConfig: { EndpointsConfig: isShared ? {} : { [network]: endpoint } },
  }
}

function hostConfig(options: ContainerOptions) {
  const { granted = {}, logs = { maxSize: '10m', maxFiles: 3 } } = options
  return {
    Privileged: granted.privileged === true,
    CapDrop: ['ALL'],
    CapAdd: options.capabilities ?? [],
    SecurityOpt: [
      'no-new-privileges:true',
      ...(granted.unconfined ?? []).map((profile) => `${profile}=unconfined`),
    ],
    IpcMode: granted.hostIpc ? 'host' : 'private',
    ...(granted.hostPid && { PidMode: 'host' }),
    ...(granted.devices?.length && { Devices: granted.devices.map(device) }),
    PublishAllPorts: false,
    ...(options.extraHosts?.length && { ExtraHosts: options.extraHosts }),
    Memory: options.memoryBytes,
    // if omitted, the engine allows the same amount of swap on top
    MemorySwap: options.memoryBytes,
    ...(options.reservedBytes !== undefined && { MemoryReservation: options.reservedBytes }),
    ...(options.shmBytes !== undefined && { ShmSize: options.shmBytes }),
    NanoCpus: Math.round(options.cpus * 1e9),
    PidsLimit: options.pidsLimit,
    ...(options.ulimits?.length && { Ulimits: options.ulimits.map(ulimit) }),
    ...(options.sysctls && { Sysctls: options.sysctls }),
    ...(options.readOnly && { ReadonlyRootfs: true }),
    Mounts: mounts(options),
    ...(options.tmpfs?.length && {
      Tmpfs: Object.fromEntries(options.tmpfs.map(({ path, options }) => [path, options])),
    }),
    RestartPolicy: restartPolicy(options.restart ?? { name: 'no' }),
    Init: options.init ?? true,
    LogConfig: options.piped
      ? { Type: 'none', Config: {} }
      : {
          Type: 'json-file',
          Config: { 'max-size': logs.maxSize, 'max-file': String(logs.maxFiles) },
        },
    ...(options.oomScoreAdj !== undefined && { OomScoreAdj: options.oomScoreAdj }),
  }
}

export const restartPolicy = (policy: RestartPolicy) => ({
  Name: policy.name,
  MaximumRetryCount: policy.name === 'on-failure' ? policy.maximumRetries : 0,
})

const mounts = ({ volumes = [], granted }: ContainerOptions) => [
  ...volumes.map((volume) => mount('volume', volume.name, volume)),
  ...(granted?.binds ?? []).map((bind) => mount('bind', bind.source, bind)),
]

const mount = (
  Type: 'volume' | 'bind',
  Source: string,
  { path, readOnly }: { path: string; readOnly?: boolean },
) => ({ Type, Source, Target: path, ...(readOnly && { ReadOnly: true }) })

const device = ({ host, path, permissions }: NonNullable<Granted['devices']>[number]) => ({
  PathOnHost: host,
  PathInContainer: path,
  CgroupPermissions: permissions,
})

const ulimit = ({ name, soft, hard }: { name: string; soft: number; hard: number }) => ({
  Name: name,
  Soft: soft,
  Hard: hard,
})

/** The engine counts in nanoseconds, and reads 0 as unset. */
function healthCheck(check: HealthCheck) {
  if (check.disabled) return { Test: ['NONE'] }
  const nanoseconds = (time = 0) => Math.round(time * 1e6)
  return {
    ...(check.test && { Test: check.test }),
    Interval: nanoseconds(check.interval),
    Timeout: nanoseconds(check.timeout),
    StartPeriod: nanoseconds(check.startPeriod),
    Retries: check.retries ?? 0,
  }
}

type Port = NonNullable<ContainerOptions['ports']>[number]

const portKey = ({ container, protocol = 'tcp' }: Port) => `${container}/${protocol}`

function bindings(ports: Port[]) {
  const byPort: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const port of ports) {
    const binding = { HostIp: port.address, HostPort: port.host === 0 ? '' : String(port.host) }
    byPort[portKey(port)] = [...(byPort[portKey(port)] ?? []), binding]
  }
  return byPort
}
