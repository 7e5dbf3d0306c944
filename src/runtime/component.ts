import type { ContainerOptions } from '../docker/index.ts'
import type { Secrets } from '../platform/secrets.ts'

/** What a release runs: how its containers are to be, what comes before them, and what lets them through. */
export type Component = {
  /** Such as `web`, or the service of a Compose file. */
  name: string
  /** Containers of it that run beside each other, at least one. */
  replicas: number
  /** `name` is the readable start of the container's; its network and Davit's labels are added. */
  options: Omit<ContainerOptions, 'network'>
  /** Services whose networks it joins before it starts, by id. */
  joins: string[]
  /** To be written into it before it starts. */
  files: ContainerFile[]
  waits: Wait[]
  /** Ends by itself, with success. */
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

/** What has to be before it starts; where that is not `required`, it starts anyway. */
export type Wait = { component: string; condition: Condition; required: boolean }

export type Gate =
  | {
      /** Davit probes it and runs its HEALTHCHECK, each for so many milliseconds at most. */
      kind: 'probe'
      /** 0: none, it only has to stay up. */
      port: number
      /** Null: the port has to accept a connection. */
      path: string | null
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

/** Its end with success is no trouble, whoever waits for it. */
export const mayEnd = ({ oneShot, options: { restart } }: Pick<Component, 'oneShot' | 'options'>) =>
  oneShot || restart?.name === 'no' || restart?.name === 'on-failure'

const sealedAs = (releaseId: string) => `release ${releaseId}`

export const sealComponents = (secrets: Secrets, releaseId: string, components: Component[]) =>
  secrets.seal(JSON.stringify(components), sealedAs(releaseId))

/** The components of a release; null for one that an earlier version made. */
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
