import type { Component } from './component.ts'
import type { Tx } from './store.ts'
import type { RuntimeDeps, Workload } from './workload.ts'

/** What a roll-out came to. */
export type Outcome = {
  /** Milliseconds in which nothing responded; null where the old containers were not stopped first. */
  downtimeMs: number | null
}

export type RollOut = {
  workload: Workload
  /** Components in the order of their start. */
  release: { id: string; components: Component[] }
  /** By default what both releases hold decides. */
  strategy?: 'stop-first'
  hooks: {
    /** Lines about the roll-out; with it, what starting containers write is among them. */
    log?: (text: string, stream?: 'system' | 'stdout' | 'stderr') => void
    /** What begins now. */
    enter?: (state: 'creating' | 'starting') => void
    /** Runs in the transaction that makes the release the live one. */
    commit: (tx: Tx, outcome: Outcome) => void
    /** The commit is stored. */
    committed?: () => void
    /** All was undone, but for what the problems say. */
    undone?: ((outcome: Outcome & { problems: string[] }) => void) | undefined
  }
  /** Ends it until the commit; then all is undone. */
  signal: AbortSignal
  /** Aborted when Davit stops: what is not done by then is left to the next process. */
  shutdown: AbortSignal
}

/** What a step is given. */
export type RollOutRun = RuntimeDeps & RollOut & { network: string }

/** What a gate is given. */
export type GateRun = Pick<RollOutRun, 'docker' | 'config' | 'network' | 'signal'> & {
  workload: Pick<Workload, 'kind'>
  hooks: Pick<RollOutRun['hooks'], 'log'>
}

/** A container, and what it was made from; null where an earlier version made it. */
export type Placed = { id: string; component: Component | null }
