import type { TriggerDeps } from '../deployments/trigger.ts'
import type { Deployment } from '../deployments/store.ts'
import { listEnvironments } from '../environments/store.ts'
import { publishSuperseded } from '../deployments/waiting-store.ts'
import { AppError } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { deployPush } from './deploy-push.ts'
import type { Push } from './push.ts'
import { updateDelivery } from './store.ts'
import type { Delivery } from './store.ts'
import { untouchedBy } from './watch-paths.ts'

export const canReplay = ({ signatureOk, push }: Delivery) => signatureOk && push !== null

/** Uses the project's current settings. */
export async function replay(
  deps: TriggerDeps,
  { project, delivery, triggeredBy }: { project: Project; delivery: Delivery; triggeredBy: string },
): Promise<Deployment[]> {
  if (!canReplay(delivery))
    throw new AppError('conflict', `There is nothing to replay. ${delivery.reason}`)
  const push = delivery.push as Push // only `deliver` writes it
  const environments = listEnvironments(deps.db, project.id)
  const untouched = await untouchedBy(push, [{ project, environments }])
  const queued = deps.db.transaction(
    () => {
      const receiver = { project, isOwnerDisabled: false }
      const of = { push, untouched, triggeredBy }
      const { queued, reason, isFull } = deployPush(deps.db, receiver, of)
      if (queued.length === 0)
        throw isFull
          ? new AppError('too_many', reason, { retryAfter: 60 })
          : new AppError('conflict', `There is nothing to replay. ${reason}`)
      const made = queued.map(({ deployment }) => deployment.id)
      updateDelivery(deps.db, delivery.id, {
        decision: 'deployed',
        reason,
        deploymentIds: [...delivery.deploymentIds, ...made],
      })
      return queued
    },
    { behavior: 'immediate' },
  )
  for (const one of queued) publishSuperseded(deps, one)
  deps.jobs.wake()
  return queued.map(({ deployment }) => deployment)
}
