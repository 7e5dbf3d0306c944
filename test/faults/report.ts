/** What came of a fault that was made on purpose, many times. `bad` of `rounds` broke the promise. */
export type FaultReport = {
  /** The promise, in a few words: `a deployment in each state, killed`. */
  what: string
  /** What one round is and what went wrong in a bad one: `kills stuck`. */
  unit: string
  rounds: number
  bad: number
  /** Measured beside it, with units; empty when there is nothing to say. */
  figures: string
}
