import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { parse } from './admin.ts'
import type { Admin } from './admin.ts'

type ApplyDeps = { admin: Pick<Admin, 'readText' | 'load'> }

/** Caddy's ETag of the active configuration: while it is the same, nothing is read and compared. */
const textInForce = new WeakMap<object, string>()

/**
 * Loads a configuration unless it is active already. It is compared as a whole: someone may have changed it,
 * or Caddy may have started without it. Each load loses requests on idle connections and on those just
 * opened, so one that `mayWait` isn't loaded while anyone is connected.
 */
export async function apply(
  { admin }: ApplyDeps,
  configuration: object,
  {
    signal,
    isBusy = async () => true,
    mayWait = () => false,
  }: {
    signal: AbortSignal
    /** Resolves to true while anyone is connected. */
    isBusy?: () => Promise<boolean>
    mayWait?: (current: unknown, wanted: unknown) => boolean
  },
): Promise<'in force' | 'loaded' | 'waits'> {
  const text = await admin.readText('config/', { signal })
  if (text !== null && text === textInForce.get(configuration)) return 'in force'
  const current = text === null ? null : parse(text)
  const wanted: unknown = JSON.parse(JSON.stringify(configuration))
  if (Bun.deepEquals(current, wanted)) {
    if (text !== null) textInForce.set(configuration, text)
    return 'in force'
  }
  if (current !== null && mayWait(current, wanted) && (await isBusy())) return 'waits'
  await admin.load(configuration, { signal })
  return 'loaded'
}

/** Milliseconds that Caddy may take to start. */
const startTime = 20_000

/** Resolves when Caddy accepts configurations. Throws the reason if it doesn't in time. */
export async function whenUp({ admin }: ApplyDeps, { signal }: { signal: AbortSignal }) {
  const end = performance.now() + startTime
  for (;;)
    try {
      await admin.readText('config/', { signal, timeout: 1000 })
      return
    } catch (error) {
      if (!(error instanceof Failure) || performance.now() > end) throw error
      await sleep(50, undefined, { signal })
    }
}
