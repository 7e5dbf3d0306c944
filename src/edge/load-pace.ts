/** Configurations that Caddy may load one after another, and milliseconds until one more is allowed. */
const burst = 20
const refill = 10_000

/**
 * Limits how often Caddy loads a configuration. Each load closes idle connections of all users' visitors, so
 * someone who changes settings all the time must wait.
 */
export class LoadPace {
  #spent = 0
  #since = 0
  #last: Date | null = null

  /** The same time is counted once. */
  count(loadedAt: Date | null, now = performance.now()) {
    if (!loadedAt || loadedAt === this.#last) return
    this.#last = loadedAt
    this.#spent = Math.max(this.#spent - (now - this.#since) / refill, 0) + 1
    this.#since = now
  }

  /** Milliseconds until the next load is allowed. */
  wait(now = performance.now()) {
    const over = this.#spent - burst - (now - this.#since) / refill + 1
    return Math.max(over * refill, 0)
  }
}
