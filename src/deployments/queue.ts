import type { Deps } from '../deps.ts'
import { journal } from '../journal.ts'
import { runPipeline } from './pipeline.ts'
import { cancelled, stopping } from './run.ts'
import { cancelWaiting, listInStatus } from './store.ts'
import type { Deployment } from './store.ts'
import { triggerDeployment } from './trigger.ts'
import type { Trigger } from './trigger.ts'

type Running = {
  deployment: Deployment
  abort: AbortController
  done: Promise<void>
  /** Whether it takes one of the places for builds. */
  building: boolean
}

/**
 * Runs waiting deployments, oldest first: one at a time for each environment, a few builds at once.
 * The database is the queue; this only remembers what runs now.
 */
export class DeploymentQueue {
  readonly #deps: () => Deps
  readonly #running = new Map<string, Running>()
  #stopped = false

  constructor(deps: () => Deps) {
    this.#deps = deps
  }

  /** For those below the deployments; the same door as everyone's. */
  trigger(trigger: Trigger) {
    return triggerDeployment(this.#deps(), trigger)
  }

  /** Call it after every insert and every end: once too often does no harm. */
  wake() {
    if (this.#stopped) return
    const { db, config } = this.#deps()
    for (const deployment of listInStatus(db, ['pending'])) {
      const needsBuild = deployment.image === null
      if (this.isBusy(deployment.environmentId)) continue
      if (needsBuild && this.#builds() >= config.buildConcurrency) continue
      this.#start(deployment, needsBuild)
    }
  }

  isBusy(environmentId: string) {
    return this.#running
      .values()
      .some(({ deployment }) => deployment.environmentId === environmentId)
  }

  /** Ends a run; resolves when it has cleaned up. False when it does not run. */
  async cancel(id: string) {
    const run = this.#running.get(id)
    run?.abort.abort(cancelled)
    await run?.done
    return run !== undefined
  }

  cancelProject(projectId: string) {
    cancelWaiting(this.#deps().db, { projectId })
    return this.#cancelWhere(({ deployment }) => deployment.projectId === projectId)
  }

  cancelEnvironment(environmentId: string) {
    cancelWaiting(this.#deps().db, { environmentId })
    return this.#cancelWhere(({ deployment }) => deployment.environmentId === environmentId)
  }

  /** Starts nothing more and puts back what runs; resolves when all have let go. */
  async stop() {
    this.#stopped = true
    for (const { abort } of this.#running.values()) abort.abort(stopping)
    await this.idle()
  }

  /** Resolves when nothing runs. */
  async idle() {
    while (this.#running.size > 0) await Promise.all(this.#running.values().map(({ done }) => done))
  }

  #start(deployment: Deployment, building: boolean) {
    const { id } = deployment
    const abort = new AbortController()
    const run: Running = { deployment, abort, building, done: Promise.resolve() }
    this.#running.set(id, run)
    const onBuilt = () => {
      if (!run.building) return
      run.building = false
      this.wake()
    }
    run.done = runPipeline(this.#deps(), { id, signal: abort.signal, onBuilt })
      .catch((error) => journal.error('pipeline broke', error, { deployment: id }))
      .finally(() => {
        this.#running.delete(id)
        this.wake()
      })
  }

  #builds() {
    return this.#running
      .values()
      .filter(({ building }) => building)
      .toArray().length
  }

  async #cancelWhere(matches: (run: Running) => boolean) {
    const runs = this.#running.values().filter(matches).toArray()
    await Promise.all(runs.map(({ deployment }) => this.cancel(deployment.id)))
  }
}
