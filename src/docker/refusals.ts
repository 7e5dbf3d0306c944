import { EngineError } from './failures.ts'

/** True when the call went through, false when its object does not exist. */
export const unlessMissing = (call: Promise<unknown>) =>
  unlessRefused(
    call.then(() => true),
    { on: [404], instead: false },
  )

/** False when its object is in use, so that the engine keeps it. */
export function unlessUsed<T>(removal: Promise<T>) {
  return unlessRefused(removal, { on: [403, 409], instead: false as const })
}

/** What the call answers, null when its object does not exist. */
export function orNull<T>(call: Promise<T>) {
  return unlessRefused(call, { on: [404], instead: null })
}

const unlessRefused = <T, Instead>(
  call: Promise<T>,
  { on, instead }: { on: number[]; instead: Instead },
): Promise<T | Instead> =>
  call.catch((error) => {
    if (on.some((status) => isStatus(error, status))) return instead
    throw error
  })

/**
 * What another call has begun is waited for: a removal, which then ends with "no such container" or
 * "no such image", or the look at the disk, of which the engine does one at a time.
 */
export async function retryWhileBusy<T>(
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof EngineError && busy.test(error.message)) || tries === 300) throw error
      await Bun.sleep(100)
      signal?.throwIfAborted()
    }
  }
}

// the last is said of an image that another call removed in the middle of this one
const busy = /already in progress|operation is already running|unrecognized image ID/

export const isStatus = (error: unknown, status: number) =>
  error instanceof EngineError && error.status === status
