import { journal, report } from '../platform/journal.ts'
import { endBroken } from './end-broken.ts'
import { runPipeline } from './pipeline.ts'
import type { PipelineDeps } from './pipeline.ts'
import { RoundRobin } from './round-robin.ts'
import { cancelled, stopping } from './run.ts'
import { activeStatuses, listInStatus } from './store.ts'
import type { Deployment } from './store.ts'
import { tellCancelled } from './waiting.ts'
import { cancelWaiting, listWaiting, listWorkOf, requestCancel } from './waiting-store.ts'
import type { WorkOf } from './waiting-store.ts'

type Running = {
  deployment: Deployment
  ownerId: string
  abort: AbortController
  done: Promise<void>
  /** Whether it takes one of the places for builds. */
  building: boolean
}

/**
 * Runs waiting deployments: one at a time for each environment, and a few builds at once, for which
 * their owners take turns. The database is the queue; this only remembers what runs now.
 */
export class DeploymentQueue {
  readonly #deps: PipelineDeps
  readonly #running = new Map<string, Running>()
  readonly #builders = new RoundRobin()
  readonly #stop = new AbortController()

  constructor(deps: PipelineDeps) {
    this.#deps = deps
  }

  /** Call it after every insert and every end: once too often does no harm. Never throws. */
  wake() {
    if (this.#stop.signal.aborted) return
    try {
      this.#startWaiting()
    } catch (error) {
      report('the queue could not be read', error)
    }
  }

  #startWaiting() {
    const { db, config } = this.#deps
    // also what the last process left in work, until it is taken up
    const active = new Set(listInStatus(db, activeStatuses).map((one) => one.environmentId))
    const isFree = ({ deployment: { environmentId } }: Waiting) =>
      !active.has(environmentId) && !this.isBusy(environmentId)
    const waiting = listWaiting(db)
    for (const one of waiting) if (one.deployment.image && isFree(one)) this.#start(one, false)
    for (;;) {
      const builds = [...this.#running.values()].filter(({ building }) => building)
      if (builds.length >= config.buildConcurrency) return
      const next = this.#builders.next(
        waiting.filter((one) => !one.deployment.image && isFree(one)),
        builds,
      )
      if (!next) return
      this.#start(next, true)
    }
  }

  isBusy(environmentId: string) {
    return this.#running
      .values()
      .some(({ deployment }) => deployment.environmentId === environmentId)
  }

  /** Ends a run; the promise resolves when it has cleaned up. Undefined when it does not run. */
  cancel(id: string) {
    const run = this.#running.get(id)
    run?.abort.abort(cancelled)
    return run?.done
  }

  /** Ends all that waits and runs of a project or an environment; resolves when all has ended. */
  async cancelAll(of: WorkOf) {
    const deps = this.#deps
    for (const { id } of cancelWaiting(deps.db, of)) tellCancelled(deps, id)
    requestCancel(deps.db, of)
    const running = listWorkOf(deps.db, of, [...this.#running.keys()])
    await Promise.all(running.map(({ id }) => this.cancel(id)))
  }

  /** Starts nothing more and puts back what runs; resolves when all have let go. */
  async stop() {
    this.#stop.abort()
    for (const { abort } of this.#running.values()) abort.abort(stopping)
    await this.idle()
  }

  /** Resolves when nothing runs. */
  async idle() {
    while (this.#running.size > 0) await Promise.all(this.#running.values().map(({ done }) => done))
  }

  #start({ deployment, ownerId }: Waiting, building: boolean) {
    const { id } = deployment
    const abort = new AbortController()
    const run: Running = { deployment, ownerId, abort, building, done: Promise.resolve() }
    this.#running.set(id, run)
    const onBuilt = () => {
      if (!run.building) return
      run.building = false
      this.wake()
    }
    run.done = runPipeline(this.#deps, { id, signal: abort.signal, onBuilt })
      .catch((error) => {
        journal.error('pipeline broke', error, { deployment: id })
        const status = abort.signal.reason === cancelled ? 'cancelled' : 'failed'
        return endBroken(this.#deps, { id, status, signal: this.#stop.signal })
      })
      .finally(() => {
        this.#running.delete(id)
        this.wake()
      })
  }
}

type Waiting = ReturnType<typeof listWaiting>[number]
