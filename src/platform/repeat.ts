import { setTimeout as sleep } from 'node:timers/promises'
import { report } from './journal.ts'

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
