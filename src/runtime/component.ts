import type { ContainerOptions } from '../docker/index.ts'
import type { Secrets } from '../platform/secrets.ts'

/** A part of a release: the configuration of its containers, their dependencies, and their gate. */
export type Component = {
  /** Such as `web`, or the service of a Compose file. */
  name: string
  /** Number of replicas, at least one. */
  replicas: number
  /** `name` is the readable start of the container's; its network and Davit's labels are added. */
  options: Omit<ContainerOptions, 'network'>
  /** Services whose networks it joins before it starts, by id. */
  joins: string[]
  /** Files to write into it before it starts. */
  files: ContainerFile[]
  waits: Wait[]
  /** Exits by itself, with success. */
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

/** What must be up before it starts; if that isn't `required`, it starts anyway. */
export type Wait = { component: string; condition: Condition; required: boolean }

export type Gate =
  | {
      /** Davit probes it and runs its HEALTHCHECK, each for so many milliseconds at most. */
      kind: 'probe'
      /** 0: none, it only has to stay up. */
      port: number
      /** Null: the port must accept a connection. */
      path: string | null
      /** The Host that it is asked for. Default: localhost. */
      host?: string
      timeout: number
    }
  | {
      /** The engine's own health check, on its schedule. */
      kind: 'engine'
    }

/** One container of a component: which of its replicas it is, from 0. */
export type Slot = { component: Component; slot: number }

/** The containers of components, in the order of their start. */
export const slotsOf = (components: Component[]): Slot[] =>
  components.flatMap((component) =>
    Array.from({ length: component.replicas }, (_, slot) => ({ component, slot })),
  )

/** The port that Davit probes; null when it has none. */
export const portOf = ({ gate }: Pick<Component, 'gate'>) =>
  gate.kind === 'probe' && gate.port > 0 ? gate.port : null

/** Host ports and volumes, which two containers can't use at once. */
export const thingsHeld = ({ options: { ports = [], volumes = [] } }: Component) => [
  ...ports
    .filter(({ host }) => host > 0)
    .map(({ host, protocol = 'tcp' }) => `${host}/${protocol}`),
  ...volumes.map(({ name }) => name),
]

/** Exiting with success is fine, whoever depends on it. */
export const mayEnd = ({ oneShot, options: { restart } }: Pick<Component, 'oneShot' | 'options'>) =>
  oneShot || restart?.name === 'no' || restart?.name === 'on-failure'

const sealedAs = (releaseId: string) => `release ${releaseId}`

export const sealComponents = (secrets: Secrets, releaseId: string, components: Component[]) =>
  secrets.seal(JSON.stringify(components), sealedAs(releaseId))

/** The components of a release; null for one that an earlier version created. */
export const openComponents = (
  secrets: Secrets,
  release: { id: string; components: string | null } | undefined,
): Component[] | null =>
  release?.components
    ? JSON.parse(secrets.open(release.components, sealedAs(release.id))).map(withDefaults)
    : null

/** An earlier version stored fewer fields. */
const withDefaults = (stored: Component): Component => ({
  ...stored,
  replicas: stored.replicas ?? 1,
  joins: stored.joins ?? [],
})
