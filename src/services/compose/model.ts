import type { RestartPolicy } from '../../docker/index.ts'
import type { Condition, ContainerFile } from '../../runtime/component.ts'
import type { Danger } from './dangers.ts'

export type Stack = {
  name: string | null
  /** In the order of the file. */
  services: Map<string, Service>
  volumes: string[]
  /** What only an admin can allow; nearly always empty. */
  dangers: Danger[]
  /** Differences between the file and what Davit does, for its user. */
  notes: string[]
}

export type Service = {
  name: string
  /** Empty for a service that is built. */
  image: string
  /** Null for a service whose image is pulled. */
  build: Build | null
  replicas: number
  command: string[] | null
  /** Null means the image's own, an empty list means none. */
  entrypoint: string[] | null
  environment: Map<string, string>
  ports: Port[]
  expose: number[]
  volumes: VolumeMount[]
  tmpfs: { path: string; options: string }[]
  files: ContainerFile[]
  dependsOn: Dependency[]
  links: { service: string; alias: string }[]
  volumesFrom: { service: string; readOnly: boolean }[]
  /** Null means the image's own. */
  health: Health | null
  labels: Map<string, string>
  /** Additional names on the network, including `container_name`. */
  aliases: string[]
  hostname: string | null
  user: string | null
  workingDir: string | null
  platform: string | null
  /** Null when the file sets none. */
  restart: RestartPolicy | null
  stopSignal: string | null
  /** In seconds. */
  stopTimeout: number | null
  /** Null means yes, unless the command itself is an init. */
  init: boolean | null
  readOnly: boolean
  capAdd: string[]
  capDrop: string[]
  ulimits: { name: string; soft: number; hard: number }[]
  sysctls: Map<string, string>
  /** Each is `name:address`. */
  extraHosts: string[]
  shmBytes: number | null
  memoryBytes: number | null
  reservedBytes: number | null
  cpus: number | null
  pids: number | null
  logs: { maxSize: string; maxFiles: number } | null
  /** Each of these is also listed as a danger. */
  privileged: boolean
  hostNamespaces: HostNamespace[]
  unconfined: Profile[]
  binds: Bind[]
  devices: { host: string; path: string; permissions: string }[]
}

/** Paths are relative to the root of the repository. */
export type Build = {
  context: string
  dockerfile: string
  args: Record<string, string>
  /** The last stage; null for the last one of the Dockerfile. */
  target: string | null
}

/** Where a Compose file of a repository is. */
export type Repository = {
  /** The directory of the file; empty for the root. */
  base: string
  /** The profiles whose services run. */
  profiles: readonly string[]
}

export type HostNamespace = 'network' | 'pid' | 'ipc'

/** Kernel features that restrict a container's system calls and files. */
export type Profile = 'seccomp' | 'apparmor'

/** A `host` of null means any free port. The address is never wider than the one on which Davit publishes. */
export type Port = {
  container: number
  host: number | null
  protocol: 'tcp' | 'udp'
  loopback: boolean
}

/** `volume` is the name in the file; one without has a derived name, which `settleVolumes` chooses. */
export type VolumeMount = { volume: string; path: string; readOnly: boolean; derived?: Derived }

/** Different sources may have the same plain name. */
export type Derived = { source: string; plain: string; own: string }

export type Bind = { source: string; path: string; readOnly: boolean }

/** With `restart`, the service restarts when its dependency does. If not `required`, it starts without it. */
export type Dependency = {
  service: string
  condition: Condition
  restart: boolean
  required: boolean
}

/** Times are in milliseconds; null means the engine's default. */
export type Health =
  | { disabled: true }
  | {
      disabled: false
      /** In the engine's format: `['CMD', …]` or `['CMD-SHELL', line]`. */
      test: string[] | null
      interval: number | null
      timeout: number | null
      startPeriod: number | null
      retries: number | null
    }

/** True when some service waits for its successful end. */
export const isOneShot = (stack: Pick<Stack, 'services'>, name: string) =>
  [...stack.services.values()].some(({ dependsOn }) =>
    dependsOn.some(
      ({ service, condition }) =>
        service === name && condition === 'service_completed_successfully',
    ),
  )
