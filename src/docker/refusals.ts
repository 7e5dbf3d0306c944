import { EngineError } from './failures.ts'

/** True when the call went through, false when its object does not exist. */
export async function unlessMissing(call: Promise<unknown>): Promise<boolean> {
  try {
    await call
    return true
  } catch (error) {
    if (isStatus(error, 404)) return false
    throw error
  }
}

/** False when its object is in use, so that the engine keeps it. */
export async function unlessUsed<T>(removal: Promise<T>): Promise<T | false> {
  try {
    return await removal
  } catch (error) {
    if (isStatus(error, 403) || isStatus(error, 409)) return false
    throw error
  }
}

/** What the call answers, null when its object does not exist. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (isStatus(error, 404)) return null
    throw error
  }
}

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
