import { once } from 'node:events'

/** Runs work one at a time for each key; an abort ends the wait. */
export type Locks = <T>(key: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>

export function createLocks(): Locks {
  const last = new Map<string, Promise<void>>()
  return async function locked(key, signal, work) {
    const before = last.get(key)
    const { promise, resolve } = Promise.withResolvers<void>()
    const mine = Promise.all([before, promise]).then(() => {})
    last.set(key, mine)
    try {
      signal.throwIfAborted()
      await Promise.race([before, once(signal, 'abort')])
      signal.throwIfAborted()
      return await work()
    } finally {
      resolve()
      if (last.get(key) === mine) last.delete(key)
    }
  }
}
