export type RestartPolicy =
  { name: 'no' | 'always' | 'unless-stopped' } | { name: 'on-failure'; maximumRetries: number }

export type ContainerOptions = {
  name: string
  image: string
  command?: string[]
  env?: Record<string, string>
  labels?: Record<string, string>
  network: string
  networkAliases?: string[]
  /** TCP ports; `host` 0 lets the engine choose one. */
  ports?: { container: number; host: number; address: string }[]
  memoryBytes: number
  /** Fractions of a core are fine. */
  cpus: number
  pidsLimit: number
  /** What is kept of the capabilities: all others are dropped. */
  capabilities?: string[]
  /** Named volumes only; a path of the host cannot be mounted. */
  volumes?: { name: string; path: string }[]
  restart?: RestartPolicy
  /** An init as process 1, so that an app that ignores SIGTERM stops at once. Default: true. */
  init?: boolean
  /** Seconds between SIGTERM and SIGKILL. */
  stopTimeout?: number
  logs?: { maxSize: string; maxFiles: number }
  oomScoreAdj?: number
}

/**
 * The engine's form of the options. It is an allow-list: whatever is not built here (privileges,
 * devices, host namespaces, bind mounts) cannot be asked for.
 */
export function containerConfig(options: ContainerOptions) {
  const { network, ports = [], volumes = [], logs = { maxSize: '10m', maxFiles: 3 } } = options
  return {
    Image: options.image,
    ...(options.command && { Cmd: options.command }),
    Env: Object.entries(options.env ?? {}).map(([key, value]) => `${key}=${value}`),
    Labels: options.labels ?? {},
    ExposedPorts: Object.fromEntries(ports.map((port) => [`${port.container}/tcp`, {}])),
    ...(options.stopTimeout !== undefined && { StopTimeout: options.stopTimeout }),
    HostConfig: {
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: options.capabilities ?? [],
      SecurityOpt: ['no-new-privileges:true'],
      IpcMode: 'private',
      NetworkMode: network,
      PortBindings: bindings(ports),
      PublishAllPorts: false,
      Memory: options.memoryBytes,
      // Left out, the engine grants as much swap again on top.
      MemorySwap: options.memoryBytes,
      NanoCpus: Math.round(options.cpus * 1e9),
      PidsLimit: options.pidsLimit,
      Mounts: volumes.map(({ name, path }) => ({ Type: 'volume', Source: name, Target: path })),
      RestartPolicy: restartPolicy(options.restart ?? { name: 'no' }),
      Init: options.init ?? true,
      LogConfig: {
        Type: 'json-file',
        Config: { 'max-size': logs.maxSize, 'max-file': String(logs.maxFiles) },
      },
      ...(options.oomScoreAdj !== undefined && { OomScoreAdj: options.oomScoreAdj }),
    },
    NetworkingConfig: {
      EndpointsConfig: { [network]: { Aliases: options.networkAliases ?? [] } },
    },
  }
}

export const restartPolicy = (policy: RestartPolicy) => ({
  Name: policy.name,
  MaximumRetryCount: policy.name === 'on-failure' ? policy.maximumRetries : 0,
})

function bindings(ports: { container: number; host: number; address: string }[]) {
  const byPort: Record<string, { HostIp: string; HostPort: string }[]> = {}
  for (const { container, host, address } of ports) {
    const hostPort = host === 0 ? '' : String(host)
    const binding = { HostIp: address, HostPort: hostPort }
    byPort[`${container}/tcp`] = [...(byPort[`${container}/tcp`] ?? []), binding]
  }
  return byPort
}
