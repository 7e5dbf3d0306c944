import { report } from '../platform/journal.ts'
import { unlessAborted } from '../platform/pause.ts'
import type { Instance } from './store.ts'

export type TaskSignals = {
  /** Aborted when waiting must end: the rest of the task is done at once. */
  expedite: AbortSignal
  /** Aborted when the container stays: a removal ends then. */
  kept: AbortSignal
  /** Call it before the container is stopped: false when it stays. Nothing keeps it after that. */
  mayStop: () => boolean
  /** Aborted when Davit stops: the next process does the rest. */
  shutdown: AbortSignal
}

/** A task either waits until its instance can get requests again, or removes its container. */
type Kind = 'return' | 'removal'

type Task = {
  kind: Kind
  workloadId: string
  expedite: AbortController
  kept: AbortController
  isStopping: boolean
  done: Promise<void>
}

/** Background tasks of instances, one at a time for each, independent of other work on their workload. */
export class InstanceTasks {
  readonly #tasks = new Map<string, Task>()
  readonly #stop = new AbortController()

  isRemoving(instanceId: string) {
    const task = this.#tasks.get(instanceId)
    return task?.kind === 'removal' && !task.kept.signal.aborted
  }

  /** Does nothing if the instance has a task that isn’t over, but a removal replaces a wait. Failures are logged. */
  begin(
    { id, workloadId }: Pick<Instance, 'id' | 'workloadId'>,
    kind: Kind,
    work: (signals: TaskSignals) => Promise<void>,
  ) {
    const shutdown = this.#stop.signal
    const before = this.#tasks.get(id)
    const isOver = before?.kept.signal.aborted
    const mayBegin = !before || isOver || (before.kind === 'return' && kind === 'removal')
    if (!mayBegin || shutdown.aborted) return
    before?.expedite.abort()
    const [expedite, kept] = [new AbortController(), new AbortController()]
    const mayStop = () => (task.isStopping = !kept.signal.aborted)
    const signals = { expedite: expedite.signal, kept: kept.signal, mayStop, shutdown }
    const done = (before?.done ?? Promise.resolve())
      .then(() => work(signals))
      .catch((error) => {
        if (!shutdown.aborted)
          report('a task for an instance failed', error, { workload: workloadId })
      })
      .finally(() => {
        if (this.#tasks.get(id) === task) this.#tasks.delete(id)
      })
    const task: Task = { kind, workloadId, expedite, kept, isStopping: false, done }
    this.#tasks.set(id, task)
  }

  /** Ends their removals, but of those whose containers are being stopped. */
  keep(instances: Pick<Instance, 'id'>[]) {
    for (const { id } of instances) {
      const task = this.#tasks.get(id)
      if (task?.kind === 'removal' && !task.isStopping) task.kept.abort()
    }
  }

  /** Resolves when these instances have no more tasks. */
  ended(instances: Pick<Instance, 'id'>[], signal: AbortSignal) {
    const all = instances.map(({ id }) => this.#tasks.get(id)?.done)
    return unlessAborted(Promise.all(all), signal)
  }

  /** Ends all waiting for a workload. Resolves when its tasks are done. */
  expedite(workloadId: string) {
    return endWaiting([...this.#tasks.values()].filter((task) => task.workloadId === workloadId))
  }

  /** These instances no longer get requests again by themselves. Resolves when their tasks are done. */
  endReturns(instances: Pick<Instance, 'id'>[]) {
    const all = instances.flatMap(({ id }) => this.#tasks.get(id) ?? [])
    return endWaiting(all.filter(({ kind }) => kind === 'return'))
  }

  async idle() {
    while (this.#tasks.size > 0) await Promise.all(this.#tasks.values().map(({ done }) => done))
  }

  /** Starts no more tasks and leaves the rest to the next process. Resolves when all tasks have returned. */
  async stop() {
    this.#stop.abort()
    await this.idle()
  }
}

async function endWaiting(tasks: Task[]) {
  for (const { expedite } of tasks) expedite.abort()
  await Promise.all(tasks.map(({ done }) => done))
}
