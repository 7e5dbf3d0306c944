import { setTimeout as sleep } from 'node:timers/promises'

/** Milliseconds that all long work together may take in one turn of the event loop. */
const slice = 5

/** When long work started in this turn; null when none did. */
let begun: number | null = null

/**
 * Call it between the small steps of long work: it yields to everything else when the time slice is used up,
 * and resolves at once before that. Work that can't be split into steps belongs on another thread (`parse`).
 */
export async function pause() {
  if (!isTurnOver()) return
  await new Promise<void>((resolve) => setImmediate(resolve))
  beginTurn()
}

/** For inner loops in which a promise for each step is too expensive: call `pause` when it returns true. */
export const isTurnOver = () => performance.now() - beginTurn() >= slice

function beginTurn() {
  if (begun !== null) return begun
  setImmediate(() => (begun = null))
  return (begun = performance.now())
}

/** Resolves after so many milliseconds, or as soon as the signal aborts. */
export const sleepUpTo = (
  milliseconds: number,
  signal: AbortSignal,
  options: { ref?: boolean } = {},
): Promise<void> => sleep(milliseconds, undefined, { signal, ...options }).catch(() => {})

/** The same, or as soon as one of these resolves. */
export async function sleepUnlessWoken(
  milliseconds: number,
  { signal, wakers, ...options }: { signal: AbortSignal; wakers: Promise<void>[]; ref?: boolean },
) {
  const over = new AbortController()
  const timer = sleepUpTo(milliseconds, AbortSignal.any([signal, over.signal]), options)
  await Promise.race([timer, ...wakers])
  over.abort()
}

/** The result of the work. If the signal aborts first, throws its reason, and the work continues. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', abort))
}

/** Resolves with null after so many milliseconds; the work continues. */
export function within<Value>(milliseconds: number, promise: Promise<Value>) {
  return new Promise<Value | null>((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds, null)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

/** Resolves with false after so many milliseconds; the work continues. */
export const endsWithin = async (milliseconds: number, work: Promise<unknown>) =>
  (await within(
    milliseconds,
    work.then(() => true),
  )) !== null

/** Resolves with false after so many milliseconds in which nothing has advanced; the work continues. */
export async function endsWhileAdvancing(
  milliseconds: number,
  work: Promise<unknown>,
  steps: () => number,
) {
  for (let before = steps(); !(await endsWithin(milliseconds, work));) {
    if (steps() === before) return false
    before = steps()
  }
  return true
}

/** For work that nothing interrupts. Not one for all: each use leaves listeners on its signal. */
export const neverAborted = () => new AbortController().signal

/**
 * Milliseconds until the clock's next multiple of an interval. Work that isn't urgent runs at such times, all
 * together: waking up costs more than a little more work.
 */
export const untilBeat = (interval: number, now = Date.now()) => interval - (now % interval)

/** Throws the first refusal once nothing is under way any more: what is done next must not meet the others. */
export async function allEnded<const Works extends readonly unknown[]>(works: Works) {
  await Promise.allSettled(works)
  return Promise.all(works)
}
