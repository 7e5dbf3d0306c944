import { setTimeout as sleep } from 'node:timers/promises'
import { report } from './journal.ts'

/** Milliseconds that one turn of the loop may spend on long work, whoever's it is. */
const slice = 5

/** When long work began in this turn; null when none did. */
let begun: number | null = null

/**
 * For work that is long but of small steps: called between them, it lets everything else have its turn
 * when the slice of this one is over, and resolves at once before that. What can't be cut into steps
 * belongs on another thread (`parse`).
 */
export async function pause() {
  if (!isTurnOver()) return
  await new Promise<void>((resolve) => setImmediate(resolve))
  beginTurn()
}

/** For the innermost of loops, where even a promise for each step is dear: whether to call `pause`. */
export const isTurnOver = () => performance.now() - beginTurn() >= slice

function beginTurn() {
  if (begun !== null) return begun
  setImmediate(() => (begun = null))
  return (begun = performance.now())
}

/** What the work gives, unless the signal aborts before: it then throws the signal's reason, and the work goes on. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

/** Does it now and again after so many milliseconds, until the signal. What fails is told, and ends nothing. */
export async function repeat(
  interval: number,
  work: () => unknown,
  { signal, failed }: { signal: AbortSignal; failed: string },
) {
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      report(failed, error)
    }
    await sleep(interval, undefined, { signal, ref: false }).catch(() => {})
  }
}
