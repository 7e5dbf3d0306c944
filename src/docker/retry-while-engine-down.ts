import type { Docker } from './index.ts'
import { isEngineAway } from './failures.ts'
import { report, reportEngineBack } from '../platform/journal.ts'
import { sleepUpTo } from '../platform/pause.ts'

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

/** How often work is tried whose engine doesn’t respond while this one does: another server may stay away. */
const mostTries = 30

/** Tries at least once, and again while the engine is unreachable, until Davit stops. */
export async function untilEngineResponds<Result>(
  { docker, shutdown: signal }: { docker: Docker; shutdown: AbortSignal },
  work: () => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries++)
    try {
      return await work()
    } catch (error) {
      if (!isEngineAway(error) || tries === mostTries) throw error
      if (tries > 1) await sleepUpTo(retryDelay, signal)
      const begun = performance.now()
      if (!(await waitForEngine(docker, { signal }))) throw error
      if (performance.now() - begun > retryDelay) tries = 0
    }
}

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
      await sleepUpTo(retryDelay, signal)
    }
  }
  return false
}
