import { KeyedLock } from '../platform/semaphore.ts'

/** Containers of a workload that may be started or stopped at once. */
const mostBeside = 1000

/** Work on the containers of workloads, one at a time for each. */
export class WorkloadLocks {
  readonly #locks = new KeyedLock()
  /** Those that run or wait. */
  readonly #rollOuts = new Set<{ id: string }>()
  /** The ids of one-off commands that this process runs. */
  readonly #commands = new Set<string>()
  readonly #beside = new KeyedLock(mostBeside)
  readonly #runStarts = new KeyedLock(mostBeside)
  /** Those that runs wait for before they start. */
  readonly #beforeRuns = new Set<{ id: string }>()
  /** When each hold began that is under way, in milliseconds. */
  readonly #heldSince = new Map<string, number>()
  /** Milliseconds of the holds that are over. */
  readonly #heldFor = new Map<string, number>()

  run<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#locks.run(id, signal, work)
  }

  /** Keeps `reconcile` from touching the workload meanwhile. */
  rollOut<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    const one = { id }
    this.#rollOuts.add(one)
    return this.#locks.run(id, signal, work).finally(() => this.#rollOuts.delete(one))
  }

  /** Starts or stops a single container, also during a roll-out, but once nothing holds the others. */
  beside<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#beside.run(id, signal, work)
  }

  /** Starts a run as `beside`, but after the work that comes before runs. */
  startRun<Result>(of: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    return this.#runStarts.run(of.id, signal, () => this.beside(of, signal, work))
  }

  /** Runs start after this work, which may wait for the end of those that have started. */
  beforeRuns<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    const one = { id }
    this.#beforeRuns.add(one)
    return this.#runStarts
      .run(id, signal, work, mostBeside)
      .finally(() => this.#beforeRuns.delete(one))
  }

  mayRunStart({ id }: { id: string }) {
    return !this.isHeld({ id }) && !this.#beforeRuns.values().some((one) => one.id === id)
  }

  /** As a roll-out; nothing happens beside it. */
  hold<Result>({ id }: { id: string }, signal: AbortSignal, work: () => Promise<Result>) {
    const holding = async () => {
      this.#heldSince.set(id, performance.now())
      try {
        return await work()
      } finally {
        this.#heldFor.set(id, this.heldFor({ id }))
        this.#heldSince.delete(id)
      }
    }
    return this.rollOut({ id }, signal, () => this.#beside.run(id, signal, holding, mostBeside))
  }

  isHeld({ id }: { id: string }) {
    return this.#heldSince.has(id)
  }

  /** Milliseconds for which this process has held its containers. */
  heldFor({ id }: { id: string }) {
    const since = this.#heldSince.get(id)
    const now = since === undefined ? 0 : performance.now() - since
    return (this.#heldFor.get(id) ?? 0) + now
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
    return this.#rollOuts.values().some((one) => one.id === id)
  }
}
