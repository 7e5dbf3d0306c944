import { KeyedLock } from '../platform/semaphore.ts'
import type { WorkloadKey } from './workload.ts'

/** Work on the containers of workloads, one at a time for each. */
export class WorkloadLocks {
  readonly #locks = new KeyedLock()
  readonly #rollingOut = new Set<string>()

  run<Result>({ id }: WorkloadKey, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#locks.run(id, signal, work)
  }

  /** Keeps `reconcile` from touching the workload meanwhile. */
  rollOut<Result>({ id }: WorkloadKey, signal: AbortSignal, work: () => Promise<Result>) {
    this.#rollingOut.add(id)
    return this.#locks.run(id, signal, work).finally(() => this.#rollingOut.delete(id))
  }

  /** True from the moment a roll-out waits for its turn. */
  isRollingOut({ id }: WorkloadKey) {
    return this.#rollingOut.has(id)
  }
}
