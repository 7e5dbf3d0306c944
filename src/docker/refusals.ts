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

/** What the call answers, null when its object does not exist. */
export async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (isStatus(error, 404)) return null
    throw error
  }
}

/** A removal that another call has begun is waited for: it ends with "no such container". */
export async function retryWhileBusy<T>(
  signal: AbortSignal | undefined,
  call: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await call()
    } catch (error) {
      const busy = isStatus(error, 409) && /already in progress/.test((error as Error).message)
      if (!busy || tries === 300) throw error
      await Bun.sleep(100)
      signal?.throwIfAborted()
    }
  }
}

export const isStatus = (error: unknown, status: number) =>
  error instanceof EngineError && error.status === status
