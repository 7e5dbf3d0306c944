import type { Db } from '../db/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../platform/errors.ts'
import { getStatus, isEnded } from './store.ts'
import type { Deployment, Status } from './store.ts'

/** Ends a deployment that has not come to its end; resolves when what it made is gone. */
export async function cancelDeployment(
  deps: { db: Db; jobs: Jobs },
  { deployment: { id, status }, by }: { deployment: Deployment; by: string },
) {
  if (isEnded(status)) throw nothingToCancel(status)
  await deps.jobs.cancel([id], { by })
  const outcome = getStatus(deps.db, id)
  if (isEnded(outcome) && outcome !== 'cancelled') throw nothingToCancel(outcome)
}

const nothingToCancel = (status: Status) =>
  new AppError('conflict', `This deployment is ${status} already: there is nothing to cancel.`)
