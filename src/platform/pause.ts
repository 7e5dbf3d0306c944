import { setTimeout as sleep } from 'node:timers/promises'
import { report } from './journal.ts'

/** Milliseconds that one turn of the loop may spend on long work, whoever's it is. */
const slice = 5

/** When long work began in this turn; null when none did. */
let begun: number | null = null

/**
 * For work that is long but of small steps: called between them, it yields to everything else when
 * the time slice is used up, and resolves at once before that. Work that can't be split into steps
 * belongs on another thread (`parse`).
 */
export async function pause() {
  if (!isTurnOver()) return
  await new Promise<void>((resolve) => setImmediate(resolve))
  beginTurn()
}

/** For inner loops, where even a promise for each step is expensive: whether to call `pause`. */
export const isTurnOver = () => performance.now() - beginTurn() >= slice

function beginTurn() {
  if (begun !== null) return begun
  setImmediate(() => (begun = null))
  return (begun = performance.now())
}

/** The result of the work, unless the signal aborts first: it then throws the signal's reason, and the work continues. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

/**
 * Milliseconds until the clock's next multiple of an interval. What is in no hurry is done at such times,
 * all of it together: to wake up costs more than a little more work.
 */
export const untilBeat = (interval: number, now = Date.now()) => interval - (now % interval)

/** Runs it now and every so many milliseconds, until the signal. A failure is logged and ends nothing. */
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
