import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from './index.ts'
import { Failure } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { retryDelay, waitForEngine } from './wait-for-engine.ts'

type Options = {
  signal: AbortSignal
  /** What to tell the operator when it fails. */
  failed: string
  fields?: Record<string, unknown>
}

/**
 * Does work that needs the engine, from its beginning again whenever that goes away meanwhile. Never
 * throws: null when the work failed for another reason, which is reported, or the signal aborted.
 */
export async function retryWhileEngineDown<Result>(
  docker: Docker,
  { signal, failed, fields }: Options,
  work: () => Promise<Result>,
) {
  while (await waitForEngine(docker, { signal })) {
    try {
      return await work()
    } catch (error) {
      if (!isEngineAway(error)) {
        report(failed, error, fields)
        return null
      }
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
  }
  return null
}

export const isEngineAway = (error: unknown) =>
  error instanceof Failure && error.code === 'engine_unreachable'
