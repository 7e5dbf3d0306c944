import { setTimeout as sleep } from 'node:timers/promises'
import type { Deps } from '../deps.ts'
import { activeStatuses, moveDeployment } from './store.ts'

/** Milliseconds between two tries to store an end. */
const retryDelay = 1000

/**
 * Ends a deployment whose pipeline could neither go on nor store its end. Tried until it is stored, so
 * that its environment is blocked no longer than the cause lasts; after the signal the next process
 * takes the deployment up. What it may have made is removed as an orphan.
 */
export async function endBroken(
  { db, logs }: Pick<Deps, 'db' | 'logs'>,
  { id, status, signal }: { id: string; status: 'failed' | 'cancelled'; signal: AbortSignal },
) {
  while (!signal.aborted)
    try {
      const from = ['pending', ...activeStatuses] as const
      const made = { containerId: null, image: null, finishedAt: new Date() }
      const error = status === 'failed' ? broken : {}
      if (moveDeployment(db, { id, from, ...made, ...error, status })) logs.publish(id, { status })
      return
    } catch {
      await sleep(retryDelay, undefined, { signal }).catch(() => {})
    }
}

const broken = {
  errorCode: 'internal',
  errorMessage: 'Something went wrong inside Davit.',
  errorHint: 'Its own log has the details. Trying again can help.',
}
