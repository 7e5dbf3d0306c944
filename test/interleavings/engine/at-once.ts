import type { Pace } from './docker.ts'
import type { Clock } from './state.ts'

/** Answers at once, and by the real clock. */
export const atOnce: Pace = {
  turn: async (_, { signal }, work) => (signal?.throwIfAborted(), work()),
  wait: ({ signal }, begin) =>
    new Promise((resolve, reject) => {
      const giveUp = begin(resolve, reject)
      signal?.addEventListener('abort', () => (giveUp(), reject(signal.reason)))
    }),
  hungUp: () => new Error('The connection ended.'),
}

export const realClock: Clock = {
  now: Date.now,
  after(milliseconds, work) {
    const timer = setTimeout(work, milliseconds)
    return () => clearTimeout(timer)
  },
}
