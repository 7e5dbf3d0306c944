import { applyPull } from '../previews/life.ts'
import type { Db } from '../db/index.ts'
import type { Outcome } from '../previews/life.ts'
import type { Definitions, MakePreviewDeps } from '../previews/make.ts'
import type { Pull } from '../previews/pull.ts'
import { getLastUpdate, updateDelivery, wasClosed } from './store.ts'
import type { Delivery, Receiver } from './store.ts'

type Delivered = { pull: Pull; definitions: Definitions; triggeredBy: string }

/**
 * Makes, deploys or deletes the preview of a pull request. Events may arrive in any order, so one that is older than
 * another comes too late, also if that one was ignored: what it says may have been so already.
 */
export function deployPull(
  deps: MakePreviewDeps,
  { project, isOwnerDisabled }: Receiver,
  delivered: Delivered,
): Outcome {
  const { pull } = delivered
  const { ref, updatedAt } = pull
  const last = getLastUpdate(deps.db, { projectId: project.id, ref })
  if (updatedAt !== null && last !== null && updatedAt < last) {
    const reason = `There is a newer event of pull request #${pull.number}.`
    return { decision: 'ignored', queued: [], reason }
  }
  if (pull.action !== 'closed' && wasClosed(deps.db, { projectId: project.id, ref, updatedAt })) {
    const reason = `Pull request #${pull.number} was closed. Reopen it to deploy it.`
    return { decision: 'ignored', queued: [], reason }
  }
  return applyPull(deps, { project, isOwnerDisabled, ...delivered })
}

/** Stores it with the delivery of the event. */
export function noteOutcome(
  db: Db,
  {
    delivery: { id, deploymentIds: before },
    pull,
    outcome: { decision, reason, queued, waits },
  }: { delivery: Delivery; pull: Pull; outcome: Outcome },
) {
  const deploymentIds = [...before, ...queued.map(({ deployment }) => deployment.id)]
  updateDelivery(db, id, {
    decision,
    reason,
    deploymentIds,
    push: waits ? { pull, waits } : { pull },
  })
}
