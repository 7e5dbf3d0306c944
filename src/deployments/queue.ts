import type { Deps } from '../deps.ts'
import { journal } from '../journal.ts'
import { runPipeline } from './pipeline.ts'
import { cancelled, stopping } from './run.ts'
import { activeStatuses, cancelWaiting, listInStatus } from './store.ts'
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
    // also what the last process left in work, until it is taken up
    const active = listInStatus(db, activeStatuses).map(({ environmentId }) => environmentId)
    for (const deployment of listInStatus(db, ['pending'])) {
      const { environmentId } = deployment
      const needsBuild = deployment.image === null
      if (active.includes(environmentId) || this.isBusy(environmentId)) continue
      if (needsBuild && this.#builds() >= config.buildConcurrency) continue
      this.#start(deployment, needsBuild)
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

  cancelProject(projectId: string) {
    return this.#cancelAll({ projectId })
  }

  cancelEnvironment(environmentId: string) {
    return this.#cancelAll({ environmentId })
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
    const over = () => void this.#running.delete(id)
    run.done = runPipeline(this.#deps(), { id, signal: abort.signal, onBuilt })
      .finally(over)
      // a pipeline that broke is not woken for: it could break again at once, for ever
      .then(() => this.wake())
      .catch((error) => journal.error('pipeline broke', error, { deployment: id }))
  }

  #builds() {
    return this.#running
      .values()
      .filter(({ building }) => building)
      .toArray().length
  }

  async #cancelAll(of: { projectId: string } | { environmentId: string }) {
    const { db, logs } = this.#deps()
    for (const { id } of cancelWaiting(db, of)) logs.publish(id, { status: 'cancelled' })
    const isOf = ({ projectId, environmentId }: Deployment) =>
      'projectId' in of ? projectId === of.projectId : environmentId === of.environmentId
    const runs = this.#running.values().filter(({ deployment }) => isOf(deployment))
    await Promise.all(runs.map(({ deployment }) => this.cancel(deployment.id)))
  }
}
