import { KeyedLock } from '../platform/semaphore.ts'

/** Work on the containers of workloads, one at a time for each. */
export class WorkloadLocks {
  readonly #locks = new KeyedLock()
  readonly #rollingOut = new Set<string>()
  /** The ids of one-off commands that this process runs. */
  readonly #commands = new Set<string>()

  run<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#locks.run(id, signal, work)
  }

  /** Keeps `reconcile` from touching the workload meanwhile. */
  rollOut<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    this.#rollingOut.add(id)
    return this.#locks.run(id, signal, work).finally(() => this.#rollingOut.delete(id))
  }

  /** Keeps `reconcile` from removing the container of a one-off command meanwhile. */
  runCommand<Result>(id: string, work: () => Promise<Result>) {
    this.#commands.add(id)
    return work().finally(() => this.#commands.delete(id))
  }

  isRunningCommand(id: string) {
    return this.#commands.has(id)
  }

  /** True from the moment a roll-out waits for its turn. */
  isRollingOut({ id }: { id: string }) {
    return this.#rollingOut.has(id)
  }
}
