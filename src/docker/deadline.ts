export type Deadline = Disposable & {
  /** Aborts with the caller's signal, or when the time is up. */
  signal: AbortSignal
  readonly passed: boolean
}

/** Like `AbortSignal.timeout`, but leaves no timer behind once the work is done. */
export function startDeadline(
  signal: AbortSignal | undefined,
  milliseconds: number | null,
): Deadline {
  const controller = new AbortController()
  let passed = false
  const give = () => controller.abort(signal?.reason)
  const pass = () => {
    passed = true
    controller.abort()
  }
  const timer = milliseconds === null ? undefined : setTimeout(pass, milliseconds)
  if (signal?.aborted) give()
  signal?.addEventListener('abort', give, { once: true })
  return {
    signal: controller.signal,
    get passed() {
      return passed
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      signal?.removeEventListener('abort', give)
    },
  }
}
