import type { Semaphore } from '../platform/semaphore.ts'
import type { Snapshot } from './pull.ts'

/** How far the reading of one container has advanced. What is read again after a failure doesn't count. */
export class Progress {
  /** Grows while it advances. */
  steps = 0
  /** True while others are read first. */
  isQueued = false
  /** The most entries of one response since anything was stored. */
  #most = 0

  async turn(pulls: Semaphore, signal: AbortSignal) {
    this.isQueued = true
    return pulls.acquire(signal).finally(() => (this.isQueued = false))
  }

  counted(snapshot: Snapshot): Snapshot {
    const count = (seen: number) => this.#count(seen)
    return async function* (asked) {
      let seen = 0
      for await (const entries of snapshot(asked)) {
        count((seen += entries.length))
        yield entries
      }
    }
  }

  stored() {
    this.#most = 0
  }

  #count(seen: number) {
    if (seen <= this.#most) return
    this.#most = seen
    this.steps++
  }
}
