import { EngineError } from './failures.ts'

/** True when the call succeeded, false when its object doesn't exist. */
export const unlessMissing = (call: Promise<unknown>) =>
  unlessRefused(
    call.then(() => true),
    { on: [404], instead: false },
  )

/** False when the engine keeps the object because it is in use. */
export function unlessUsed<T>(removal: Promise<T>) {
  return unlessRefused(removal, { on: [403, 409], instead: false as const })
}

/** The result of the call; null when its object doesn't exist. */
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
 * Waits for an operation of another call: a removal, which then ends with "no such container" or "no such
 * image", or a disk usage scan, of which the engine runs one at a time. Waits, too, until the engine has noted the end
 * of a process.
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

// the third is the message for an image that another call removed during this one
const busy =
  /already in progress|operation is already running|unrecognized image ID|cannot update a stopped container/

export const isStatus = (error: unknown, status: number) =>
  error instanceof EngineError && error.status === status
