import { sleepUpTo } from '../platform/pause.ts'

/**
 * For readers that check again whenever something may have changed: yields at once, and after every call of
 * `wake`, but never twice within `interval` milliseconds. After `longest` it yields in any case.
 */
export async function* ticks(
  listen: (wake: () => void) => void,
  { signal, interval, longest }: { signal: AbortSignal; interval: number; longest: number },
): AsyncGenerator<void> {
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  listen(wake)
  signal.addEventListener('abort', wake, { once: true })
  while (!signal.aborted) {
    yield
    await sleepUpTo(interval, signal)
    const timer = setTimeout(wake, longest - interval)
    await woken.promise
    clearTimeout(timer)
    woken = Promise.withResolvers()
  }
}
