import { AppError } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'
import { triggerDeployment } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'

/** Whether there is something to go back to: a finished deployment whose image is still kept. */
export const canRollBackTo = ({ status, image }: Deployment) => isEnded(status) && image !== null

/** Deploys an earlier image again, with today's variables. */
export function rollBack(
  deps: TriggerDeps,
  { project, target, triggeredBy }: { project: Project; target: Deployment; triggeredBy: string },
) {
  if (!isEnded(target.status))
    throw new AppError('conflict', 'This deployment has not finished. Wait for it, or cancel it.')
  if (!canRollBackTo(target))
    throw new AppError(
      'conflict',
      'This deployment has no image to go back to: it was never built, or the image was cleaned up. Deploy its commit again.',
    )
  return triggerDeployment(deps, { project, trigger: 'rollback', triggeredBy, rollbackTo: target })
}
