import type { Abortable } from '../docker/engine.ts'
import type { ContainerKey, ContainerOptions, OnServer } from '../docker/index.ts'
import type { Component } from './component.ts'
import type { Workload } from './workload.ts'

/** Without an address the engine chooses one at each start. */
export type Endpoint = {
  network: string
  address: string | undefined
  aliases?: string[] | undefined
  /** Names that the container finds here before other networks. */
  ownNames?: string[] | undefined
}

export type NewContainer = OnServer &
  ContainerOptions & {
    /** The first one is the network of its options. */
    endpoints: Endpoint[]
    files: Component['files']
  }

export type StopOptions = Abortable & { timeoutSeconds?: number | undefined }

/** What new containers are of. */
export type Beside = {
  /** All of the release. */
  components: Component[]
  /** Where those run that are kept. */
  serverId: string | undefined
  /** The servers of its other containers, beside which others are better. */
  others?: string[]
  /** A server that is taken for one that is being drained. */
  leaving?: string
}

/** All by which containers of releases come, run and go. Whatever exists is read at its own engine. */
export type Runtime = {
  /** The servers for new containers of a workload, one for each. */
  place: (workload: Workload, components: Component[], beside?: Beside) => Promise<string[]>
  /** Whether a container of that server is where the workload, of these components, may run. */
  isPlacedOn: (workload: Workload, components: Component[], server: OnServer) => boolean
  /** Returns the id of a container that is complete, and doesn't run. */
  create: (container: NewContainer) => Promise<string>
  start: (container: ContainerKey) => Promise<void>
  /** Returns false when there is no such container. */
  stop: (container: ContainerKey, options?: StopOptions) => Promise<boolean>
  /** Also removes its anonymous volumes. */
  remove: (container: ContainerKey) => Promise<boolean>
}
