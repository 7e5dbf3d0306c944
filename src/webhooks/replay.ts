import type { TriggerDeps } from '../deployments/trigger.ts'
import type { Deployment } from '../deployments/store.ts'
import { tellSuperseded } from '../deployments/waiting.ts'
import { AppError } from '../platform/errors.ts'
import { listEnvironments } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import { decide } from './decide.ts'
import { deployPush } from './deploy-push.ts'
import type { Push } from './push.ts'
import { updateDelivery } from './store.ts'
import type { Delivery } from './store.ts'
import { untouchedBy } from './watch-paths.ts'

/** Whether a delivery holds a push that can be decided again. */
export const canReplay = ({ signatureOk, push }: Delivery) => signatureOk && push !== null

/** Decides a stored push again, as the project is set up now, and deploys what it asks for. */
export async function replay(
  deps: TriggerDeps,
  { project, delivery, triggeredBy }: { project: Project; delivery: Delivery; triggeredBy: string },
): Promise<Deployment[]> {
  if (!canReplay(delivery))
    throw new AppError('conflict', `There is nothing to replay. ${delivery.reason}`)
  const push = delivery.push as Push // written by `deliver`, and by nothing else
  const environments = listEnvironments(deps.db, project.id)
  const untouched = await untouchedBy(push, [project])
  const decision = decide(push, { project, environments, isOwnerDisabled: false, untouched })
  if (decision.environments.length === 0)
    throw new AppError('conflict', `There is nothing to replay. ${decision.reason}`)
  const queued = deps.db.transaction(
    () => {
      const { queued, reason } = deployPush(deps.db, { decision, project, push, triggeredBy })
      if (queued.length === 0) throw new AppError('too_many', reason, { retryAfter: 60 })
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
  for (const one of queued) tellSuperseded(deps, one)
  deps.jobs.wake()
  return queued.map(({ deployment }) => deployment)
}
