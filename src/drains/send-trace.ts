import { originOf } from '../config.ts'
import { traceOf } from '../deployments/trace.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { unsealed } from '../resources/store.ts'
import { counted } from '../web/units.ts'
import { asFailure, sendDepsOf } from './send-batch.ts'
import type { BatchDeps, End } from './send-batch.ts'
import { sealed, sendSpans } from './senders/index.ts'
import { forgetTrace, getActive, getCursor, getUnsent, ofTraces, saveCursor } from './store.ts'

/** Sends the trace of the next deployment that has ended. One that is refused is left out. */
export async function sendTrace(
  deps: BatchDeps,
  id: string,
  { signal }: { signal: AbortSignal },
): Promise<End> {
  const { db, logDb } = deps
  const found = getActive(db, id)
  const deployment = found && getUnsent(db, id)
  if (!deployment) return { is: 'done' }
  const { drain, environment, project } = found
  const page = originOf(deps.config) + deploymentPath(deployment)
  const trace = traceOf(db, deployment)
  try {
    const { rejected, reason } = await sendSpans(
      sendDepsOf(deps, signal),
      unsealed(deps.secrets, { kind: 'drain', sealed }, drain),
      { project, environment, deployment, page, trace },
    )
    forgetTrace(db, id, deployment.id)
    const now = Date.now()
    const partly = {
      error: `The receiver left out ${counted(rejected, 'span')} of deployment #${deployment.number}: ${reason || 'it doesn’t say why'}.`,
      failedAt: now,
    }
    const taken = { sentAt: now, error: null, hint: null, failedAt: null }
    save({ sent: 1, dropped: 0 }, { ...taken, ...(rejected > 0 && partly) })
    return { is: 'more', hasSent: true }
  } catch (error) {
    if (signal.aborted) return { is: 'done' }
    const failure = asFailure(error, id)
    const isRefused = failure.code === 'refused' && !failure.retry
    if (isRefused) forgetTrace(db, id, deployment.id)
    const { message, hint } = failure
    save({ sent: 0, dropped: isRefused ? 1 : 0 }, { error: message, hint, failedAt: Date.now() })
    return { is: 'failed', retryAfter: failure.retryAfter ?? 0 }
  }

  function save(count: { sent: number; dropped: number }, outcome: object) {
    if (!getActive(db, id)) return // it was deleted meanwhile
    const drainId = ofTraces(id)
    const none = { sent: 0, dropped: 0, unsaid: 0, sequence: 0 }
    const at = { sentAt: null, error: null, hint: null, failedAt: null }
    const cursor = getCursor(logDb, drainId) ?? { drainId, ...none, ...at }
    saveCursor(logDb, {
      ...{ ...cursor, sourceId: environment.id, ...outcome },
      sent: cursor.sent + count.sent,
      dropped: cursor.dropped + count.dropped,
    })
  }
}
