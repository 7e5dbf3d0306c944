import type { Component } from './component.ts'
import type { Instance, Tx } from './store.ts'
import type { RuntimeDeps, Workload } from './workload.ts'

/** The result of a roll-out. */
export type Outcome = {
  /** Milliseconds of downtime; null when the old containers weren't stopped first. */
  downtimeMs: number | null
}

export type RollOut = {
  workload: Workload
  /** Components in the order of their start. */
  release: {
    id: string
    components: Component[]
    /** Whether the edge, not Docker, serves the port of its environment. */
    edge?: boolean
  }
  /** By default decided by the ports and volumes that both releases use. */
  strategy?: 'stop-first'
  hooks: {
    /** Log of the roll-out; if given, it includes the output of starting containers. */
    log?: (text: string, stream?: 'system' | 'stdout' | 'stderr') => void
    /** The step that starts. */
    enter?: (state: 'creating' | 'starting') => void
    /** A container passed its gate; those that depend on it wait for this. */
    passed?: ((container: Placed, signal: AbortSignal) => Promise<void>) | undefined
    /** Runs in the transaction that makes the release the live one. */
    commit: (tx: Tx, outcome: Outcome) => void
    /** The commit is stored. */
    committed?: () => void
    /** Everything was undone, except for the problems. */
    undone?: ((outcome: Outcome & { problems: string[] }) => void) | undefined
  }
  /** Aborts and undoes it, until the commit. */
  signal: AbortSignal
  /** Aborted when Davit stops: the rest is left to the next process. */
  shutdown: AbortSignal
}

/** The input of a step. */
export type RollOutRun = RuntimeDeps & RollOut & { network: string }

/** The input of a gate. */
export type GateRun = Pick<RollOutRun, 'docker' | 'config' | 'network' | 'signal'> & {
  workload: Pick<Workload, 'kind'>
  hooks: Pick<RollOutRun['hooks'], 'log' | 'passed'>
}

/** A container, and its component; null when an earlier version created it. */
export type Placed = {
  id: string
  component: Component | null
  instance: Pick<Instance, 'id'>
}
