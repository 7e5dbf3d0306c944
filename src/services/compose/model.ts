import type { RestartPolicy } from '../../docker/index.ts'
import type { Condition, ContainerFile } from '../../runtime/component.ts'
import type { Danger } from './dangers.ts'

/** A Compose file as Davit runs it, every value in one form. */
export type Stack = {
  name: string | null
  /** In the order of the file. */
  services: Map<string, Service>
  /** The named volumes, as the file calls them. */
  volumes: string[]
  /** What only an admin can allow an instance; empty for nearly all. */
  dangers: Danger[]
  /** What is not done as the file says, for its user to know. */
  notes: string[]
}

export type Service = {
  name: string
  image: string
  /** Null: the image's own. */
  command: string[] | null
  /** Null: the image's own. Empty: none at all. */
  entrypoint: string[] | null
  environment: Map<string, string>
  ports: Port[]
  expose: number[]
  volumes: VolumeMount[]
  tmpfs: { path: string; options: string }[]
  /** To be written into the container before it starts. */
  files: ContainerFile[]
  dependsOn: Dependency[]
  links: { service: string; alias: string }[]
  volumesFrom: { service: string; readOnly: boolean }[]
  /** Null: the image's own. */
  health: Health | null
  labels: Map<string, string>
  /** Other names under which the others reach it, `container_name` among them. */
  aliases: string[]
  hostname: string | null
  user: string | null
  workingDir: string | null
  platform: string | null
  /** Null: not said. */
  restart: RestartPolicy | null
  stopSignal: string | null
  /** Seconds. */
  stopTimeout: number | null
  /** Null: unless its command is one. */
  init: boolean | null
  readOnly: boolean
  capAdd: string[]
  capDrop: string[]
  ulimits: { name: string; soft: number; hard: number }[]
  sysctls: Map<string, string>
  /** `name:address`. */
  extraHosts: string[]
  shmBytes: number | null
  memoryBytes: number | null
  reservedBytes: number | null
  cpus: number | null
  pids: number | null
  logs: { maxSize: string; maxFiles: number } | null
  /** Each has its entry among the dangers. */
  privileged: boolean
  hostNamespaces: HostNamespace[]
  unconfined: Profile[]
  binds: Bind[]
  devices: { host: string; path: string; permissions: string }[]
}

export type HostNamespace = 'network' | 'pid' | 'ipc'

/** What the engine keeps a container's system calls and files in bounds with. */
export type Profile = 'seccomp' | 'apparmor'

/** `host` null: any free port. Never an address wider than the one on which Davit publishes. */
export type Port = {
  container: number
  host: number | null
  protocol: 'tcp' | 'udp'
  loopback: boolean
}

/** `volume` is the name in the file; what has none there is named after service and path. */
export type VolumeMount = { volume: string; path: string; readOnly: boolean }

export type Bind = { source: string; path: string; readOnly: boolean }

/** With `restart`, it restarts when the one it depends on does; not `required`, it starts anyway. */
export type Dependency = {
  service: string
  condition: Condition
  restart: boolean
  required: boolean
}

/** Times in milliseconds; null: the engine's default. */
export type Health =
  | { disabled: true }
  | {
      disabled: false
      /** As the engine takes it: `['CMD', …]` or `['CMD-SHELL', line]`. */
      test: string[] | null
      interval: number | null
      timeout: number | null
      startPeriod: number | null
      retries: number | null
    }

/** Runs once and ends: some other service waits for that. */
export const isOneShot = (stack: Pick<Stack, 'services'>, name: string) =>
  [...stack.services.values()].some(({ dependsOn }) =>
    dependsOn.some(
      ({ service, condition }) =>
        service === name && condition === 'service_completed_successfully',
    ),
  )
