import { setTimeout as sleep } from 'node:timers/promises'
import { Failure } from '../platform/errors.ts'
import { parse } from './admin.ts'
import type { Admin } from './admin.ts'

type ApplyDeps = { admin: Pick<Admin, 'readText' | 'load'> }

/** `text` is what Caddy sends while it is active: as long as that stays the same, nothing is compared. */
export type Wanted = { configuration: object; text?: string }

/**
 * Loads a configuration unless it is active already. It is compared as a whole: someone may have changed it,
 * or Caddy may have started without it. Each load loses requests on idle connections and on those just
 * opened, so one that `mayWait` isn't loaded while anyone is connected.
 */
export async function apply(
  { admin }: ApplyDeps,
  wanted: Wanted,
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
  if (text !== null && text === wanted.text) return 'in force'
  const current = text === null ? null : parse(text)
  const configuration: object = JSON.parse(JSON.stringify(wanted.configuration))
  if (Bun.deepEquals(current, configuration)) {
    if (text !== null) wanted.text = text
    return 'in force'
  }
  if (current !== null && mayWait(current, configuration) && (await isBusy())) return 'waits'
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
