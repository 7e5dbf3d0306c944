import type { Component, Slot } from './component.ts'
import type { Tx } from '../db/index.ts'
import type { ContainerKey, Docker } from '../docker/index.ts'
import type { Instance } from './store.ts'
import type { Workload } from './workload.ts'
import type { RuntimeDeps } from './deps.ts'

export type Outcome = {
  /** Milliseconds of downtime; null when the old containers weren't stopped first. */
  downtimeMs: number | null
  /** True when the release before still runs, and requests can go back to it at once. */
  isWatched: boolean
}

export type RollOut = {
  workload: Workload
  /** Its components are in the order of their start. */
  release: {
    id: string
    components: Component[]
    /** True when the edge, not Docker, publishes the port of its environment. */
    edge?: boolean
    /** True to keep containers of the live release that already run what this one says. */
    keepsUnchanged?: boolean
    /** True to keep the containers of the live release, stopped, so that it can be returned to. */
    keepsPrevious?: boolean
    /** True to start what is kept of the release before, where it is what would be created. */
    startsKept?: boolean
  }
  /** By default decided by the ports and volumes that both releases use. */
  strategy?: 'stop-first'
  /** To watch it after the switch, if nothing of the release before has to stop first; fails then if required. */
  watch?: { isRequired: boolean; undoesCrashes: boolean } | null
  hooks: {
    /** If given, it also gets the output of starting containers. */
    log?: (text: string, stream?: 'system' | 'stdout' | 'stderr') => void
    /** Called when a step starts. */
    enter?: (state: 'creating' | 'starting') => void
    /** Called when the old containers that have to have stopped, and before the new ones that wait for that start. */
    stopped?: () => Promise<void>
    /** Called when all have passed their gates, and before the commit. */
    started?: () => Promise<void>
    /** Called when a container passed its gate; those that depend on it wait for this. */
    passed?: ((container: Placed, signal: AbortSignal) => Promise<void>) | undefined
    /** Runs in the transaction that makes the release the live one. */
    commit: (tx: Tx, outcome: Outcome) => void
    /** Called once the commit is stored. */
    committed?: () => void
    /** Called when everything was undone, except for the problems. */
    undone?: ((outcome: Pick<Outcome, 'downtimeMs'> & { problems: string[] }) => void) | undefined
  }
  /** Until the commit, aborts the roll-out and undoes it. */
  signal: AbortSignal
  /** Aborted when Davit stops: the next process does the rest. */
  shutdown: AbortSignal
}

export type RollOutRun = RuntimeDeps & RollOut & { network: string }

type ForGate = 'engines' | 'runtime' | 'config' | 'network' | 'signal' | 'trace'

export type GateRun = Pick<RollOutRun, ForGate> & {
  /** True when it needn't stay up for a while to pass, since a crash afterwards is undone. */
  undoesCrashes?: boolean
  workload: Pick<Workload, 'kind'>
  hooks: Pick<RollOutRun['hooks'], 'log' | 'passed'>
}

/** Of one container, with Docker of its server. */
export type ContainerRun = GateRun & { docker: Docker }

/** The component is null when a restore found the container. */
export type Placed = ContainerKey & {
  component: Component | null
  instance: Pick<Instance, 'id'>
}

/** What a roll-out does with the components of its release. */
export type Difference = {
  /** Containers of the live release that stay, and become the new one’s. */
  kept: Placed[]
  /**
   * The containers to start, in the order of their start. Those of a kept release are there already: until the
   * commit they stay what they are, so that nothing is to be undone but their start. `isUp` means that they run.
   */
  fresh: (Slot & { from?: Instance; isUp?: boolean })[]
}
