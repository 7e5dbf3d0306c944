import { setTimeout as sleep } from 'node:timers/promises'
import type { Docker } from './index.ts'
import { report, reportEngineBack } from '../platform/journal.ts'

/** Milliseconds between looks at an engine that does not answer. */
export const retryDelay = 1000

/** Resolves when the engine answers; false when the signal aborted before it did. */
export async function waitForEngine(docker: Docker, { signal }: { signal: AbortSignal }) {
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      await docker.info({ signal })
      reportEngineBack()
      return true
    } catch (error) {
      if (tries === 0 && !signal.aborted) report('waiting for the engine', error)
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
  }
  return false
}
