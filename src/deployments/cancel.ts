import { unlessFull } from '../db/full.ts'
import type { Deps } from '../deps.ts'
import { AppError } from '../platform/errors.ts'
import { getStatus, isEnded, moveDeployment, updateDeployment } from './store.ts'
import type { Deployment, Status } from './store.ts'
import { tellCancelled } from './waiting.ts'

/** Ends a deployment that has not come to its end; resolves when what it made is gone. */
export async function cancelDeployment(
  deps: Pick<Deps, 'db' | 'logDb' | 'logs' | 'queue'>,
  { deployment: { id, status }, by }: { deployment: Deployment; by: string },
) {
  if (isEnded(status)) throw nothingToCancel(status)
  unlessFull(() => updateDeployment(deps.db, id, { cancelRequested: true }))
  const ending = deps.queue.cancel(id)
  if (ending) await ending
  const outcome = getStatus(deps.db, id)
  // it waited, or waits again because Davit stops
  if (outcome === 'pending') return cancelWaiting(deps, { id, by })
  if (isEnded(outcome) && outcome !== 'cancelled') throw nothingToCancel(outcome)
}

function cancelWaiting(
  deps: Pick<Deps, 'db' | 'logDb' | 'logs'>,
  { id, by }: { id: string; by: string },
) {
  const end = { status: 'cancelled', finishedAt: new Date() } as const
  if (moveDeployment(deps.db, { id, from: ['pending'], ...end })) tellCancelled(deps, id, by)
}

const nothingToCancel = (status: Status) =>
  new AppError('conflict', `This deployment is ${status} already: there is nothing to cancel.`)
