import type { Db } from '../db/index.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { AppError } from '../platform/errors.ts'
import { getStatus, isEnded } from './store.ts'
import type { Deployment, Status } from './store.ts'

/** Resolves once everything that the deployment created is removed. */
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
  new AppError(
    'conflict',
    `This deployment has already ended (${status}), so it can’t be cancelled.`,
  )
