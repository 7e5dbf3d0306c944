import { setTimeout as sleep } from 'node:timers/promises'

/** Tells its listeners that something changed, not what: they look for themselves. */
export class Changes {
  readonly #listeners = new Set<() => void>()

  tell() {
    for (const wake of this.#listeners) wake()
  }

  /**
   * Yields at once, and after every change, but never twice within `interval` milliseconds: what
   * changes in between is one change. After `longest` it yields though nothing was told.
   */
  async *listen(
    signal: AbortSignal,
    { interval = 1000, longest = 10_000 } = {},
  ): AsyncGenerator<void> {
    let changed = Promise.withResolvers<void>()
    const wake = () => changed.resolve()
    this.#listeners.add(wake)
    signal.addEventListener('abort', wake, { once: true })
    try {
      while (!signal.aborted) {
        yield
        await sleep(interval, undefined, { signal }).catch(() => {})
        const patience = setTimeout(wake, longest - interval)
        await changed.promise
        clearTimeout(patience)
        changed = Promise.withResolvers()
      }
    } finally {
      this.#listeners.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }
}
