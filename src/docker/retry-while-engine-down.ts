import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from './index.ts'
import { Failure } from '../platform/errors.ts'
import { report, reportEngineBack } from '../platform/journal.ts'

type Options = {
  signal: AbortSignal
  /** The log message when it fails. */
  failed: string
  fields?: Record<string, unknown>
}

/**
 * Runs work that needs the engine, and restarts it whenever the engine becomes unreachable. Never throws:
 * returns null when the work failed for another reason, which is logged, or the signal aborted.
 */
export async function retryWhileEngineDown<Result>(
  docker: Docker,
  { signal, failed, fields }: Options,
  work: () => Promise<Result>,
) {
  if (!(await waitForEngine(docker, { signal }))) return null
  try {
    return await untilEngineResponds({ docker, shutdown: signal }, work)
  } catch (error) {
    if (!signal.aborted) report(failed, error, fields)
    return null
  }
}

/** Tries at least once, and again while the engine is unreachable, until Davit stops. */
export async function untilEngineResponds<Result>(
  { docker, shutdown: signal }: { docker: Docker; shutdown: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 0; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!isEngineAway(error)) throw error
      // this one may respond while another server’s is away
      if (tries > 0) await sleep(retryDelay, undefined, { signal }).catch(() => {})
      if (!(await waitForEngine(docker, { signal }))) throw error
    }
}

export const isEngineAway = (error: unknown) =>
  error instanceof Failure && error.code === 'engine_unreachable'

/** Milliseconds between checks of an engine that doesn't respond. */
export const retryDelay = 1000

/** Resolves when the engine responds; false when the signal aborted before. */
export async function waitForEngine(docker: Docker, { signal }: { signal: AbortSignal }) {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await docker.info({ signal })
      reportEngineBack()
      return true
    } catch (error) {
      if (tries === 0 && !signal.aborted) report('waiting for Docker', error)
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
  }
  return false
}
