import type { ContainerOptions } from '../docker/index.ts'
import type { Secrets } from '../platform/secrets.ts'

/** One part of a release, which runs as one or more equal containers. */
export type Component = {
  /** Such as `web`, or the service of a Compose file. */
  name: string
  /** At least one. */
  replicas: number
  /** `name` is the readable start of the container's name; its network and Davit's labels are added. */
  options: Omit<ContainerOptions, 'network'>
  /**
   * Ids of services whose networks it joins before it starts; with the id of its own workload, the network
   * that only this workload's containers share.
   */
  joins: string[]
  /** Its names on that network of its own. */
  names?: string[]
  /** All names there, which it finds there before those of other networks. */
  ownNames?: string[]
  /** Written into it before it starts. */
  files: ContainerFile[]
  waits: Wait[]
  /** True when it is expected to exit by itself, with success. */
  oneShot: boolean
  gate: Gate
}

export type ContainerFile = { path: string; content: string; mode: number }

export const conditions = [
  'service_started',
  'service_healthy',
  'service_completed_successfully',
] as const
export type Condition = (typeof conditions)[number]

/** What must be up before it starts; it starts anyway if that isn't `required`. */
export type Wait = {
  component: string
  condition: Condition
  required: boolean
  /** True to be recreated with it. */
  restart?: boolean
}

export type Gate =
  | {
      /** Davit sends it a request and runs its HEALTHCHECK, each with `timeout` in milliseconds. */
      kind: 'probe'
      /** 0 means none: it only has to stay up. */
      port: number
      /** Null means that the port only has to accept a connection. */
      path: string | null
      /** The Host header of the request; localhost by default. */
      host?: string
      timeout: number
    }
  | {
      /** The engine's own health check, on its schedule. */
      kind: 'engine'
    }

/** `slot` numbers the replicas of a component from 0. */
export type Slot = { component: Component; slot: number }

/** In the order in which they start. */
export const slotsOf = (components: Component[]): Slot[] =>
  components.flatMap((component) =>
    Array.from({ length: component.replicas }, (_, slot) => ({ component, slot })),
  )

/** Sorts containers into the order in which they start: one that replaced another has a later id. */
export function inStartOrder<One extends { component: string; slot: number }>(
  instances: One[],
  components: Pick<Component, 'name'>[],
): One[] {
  const at = ({ component }: One) => components.findIndex(({ name }) => name === component)
  return instances.toSorted((a, b) => at(a) - at(b) || a.slot - b.slot)
}

/** Null when Davit probes none. */
export const portOf = ({ gate }: Pick<Component, 'gate'>) =>
  gate.kind === 'probe' && gate.port > 0 ? gate.port : null

/** Host ports and volumes that two containers can't use at once. */
export const exclusiveResources = ({ options: { ports = [], volumes = [] } }: Component) => [
  ...ports
    .filter(({ host }) => host > 0)
    .map(({ host, protocol = 'tcp' }) => `${host}/${protocol}`),
  ...volumes.map(({ name }) => name),
]

/** Such a container may exit with success, even if others depend on it. */
export const mayEnd = ({ oneShot, options: { restart } }: Pick<Component, 'oneShot' | 'options'>) =>
  oneShot || restart?.name === 'no' || restart?.name === 'on-failure'

/** True of what runs where its volumes are. */
export const hasVolumes = (components: Pick<Component, 'options'>[]) =>
  components.some(({ options: { volumes = [] } }) => volumes.length > 0)

/** The names of all that they mount, each once. */
export const volumesIn = (components: Pick<Component, 'options'>[]) => [
  ...new Set(
    components.flatMap(({ options: { volumes = [] } }) => volumes.map(({ name }) => name)),
  ),
]

const sealedAs = (releaseId: string) => `release ${releaseId}`

export const sealComponents = (secrets: Secrets, releaseId: string, components: Component[]) =>
  secrets.seal(JSON.stringify(components), sealedAs(releaseId))

/** Null for a release that was found after a restore, and for one that was replaced. */
export const openComponents = (
  secrets: Secrets,
  release: { id: string; components: string | null } | undefined,
): Component[] | null =>
  release?.components ? JSON.parse(secrets.open(release.components, sealedAs(release.id))) : null
