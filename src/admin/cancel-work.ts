import type { Store } from '../accounts/store.ts'
import type { PruneRuns } from '../containers/clean-up/runs.ts'
import type { Db, LogDb } from '../db/index.ts'
import { cancelDeployment } from '../deployments/cancel.ts'
import type { DeploymentEvent } from '../deployments/log-batch.ts'
import type { DeploymentQueue } from '../deployments/queue.ts'
import type { Deployment } from '../deployments/store.ts'
import type { Hub } from '../live/hub.ts'
import { AppError } from '../platform/errors.ts'
import type { ServiceRunner } from '../services/runner.ts'
import { listServicesOf, listUnended } from './store.ts'

export type WorkDeps = {
  db: Db
  logDb: LogDb
  logs: Hub<DeploymentEvent>
  queue: DeploymentQueue
  runner: ServiceRunner
  pruneRuns: PruneRuns
}

/** What can be under way for a user. */
type Work = { userId: string; deployments: Deployment[]; serviceIds: string[] }

export const workOf = (db: Store, userId: string): Work => ({
  userId,
  deployments: listUnended(db, { ownerId: userId }).map(({ deployment }) => deployment),
  serviceIds: listServicesOf(db, userId).map(({ id }) => id),
})

/**
 * Ends deployments that wait or are at work, starts and changes of services, and a clean-up. Those that
 * wait end at once, so that none takes the place of what is ended; resolves when all has been undone.
 */
export async function cancelWork(
  deps: WorkDeps,
  { userId, deployments, serviceIds, by }: Work & { by: string },
) {
  const isWaiting = ({ status }: Deployment) => status === 'pending'
  const waitingFirst = deployments.toSorted((a, b) => Number(isWaiting(b)) - Number(isWaiting(a)))
  await Promise.all([
    ...waitingFirst.map((deployment) =>
      cancelDeployment(deps, { deployment, by }).catch(unlessEnded),
    ),
    ...serviceIds.map((id) => deps.runner.cancel(id)),
    deps.pruneRuns.cancelOf(userId),
  ])
}

/** It came to its end by itself meanwhile. */
function unlessEnded(error: unknown) {
  if (!(error instanceof AppError && error.code === 'conflict')) throw error
}
