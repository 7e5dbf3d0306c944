import { getStatus, listInStatus } from './store.ts'
import type { Deployment } from './store.ts'
import type { TriggerDeps } from './trigger.ts'
import { endWaiting } from './waiting-store.ts'

/** Resolves once everything that the deployment created is removed. */
export function cancelDeployment(
  deps: TriggerDeps,
  { deployment, by }: { deployment: Deployment; by: string },
): Promise<void> {
  const { db, jobs } = deps
  const { id } = deployment
  const line = `Cancelled by ${by} while waiting.`
  if (endWaiting(deps, deployment, { status: 'cancelled' }, { line })) return Promise.resolve()
  return jobs.cancelFor(by, [id], {
    refusal: () =>
      `This deployment has already ended (${getStatus(db, id)}), so it can’t be cancelled.`,
  })
}

/** Those that wait for checks have no job by which they could be found. */
export async function cancelWaitingOf(
  deps: TriggerDeps,
  { projectIds, by }: { projectIds: string[]; by: string },
) {
  for (const deployment of listInStatus(deps.db, ['waiting']))
    if (projectIds.includes(deployment.projectId)) await cancelDeployment(deps, { deployment, by })
}
