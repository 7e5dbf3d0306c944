import { z } from 'zod'
import type { OpenVariable } from '../environments/variable-store.ts'
import { rememberSecrets } from '../logs/secret-store.ts'
import { AppError } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Project } from '../projects/store.ts'
import { ownVariables, settingsOfRelease } from './settings.ts'
import { isEnded } from './store.ts'
import type { Deployment } from './store.ts'
import { triggerDeployment } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'

/** Chooses current or earlier variables of those set by hand. Variables of links are always current. */
export const rollbackForm = z.object({
  variables: z
    .enum(['today', 'release'], 'must be today, or release for those of that deployment.')
    .nullish(),
})

/** True when it has ended and its image still exists. */
export const canRollBackTo = ({ status, image }: Deployment) => isEnded(status) && image !== null

/** True when it serves its environment, or did until it was stopped. */
export const isLive = ({ status }: Pick<Deployment, 'status'>) =>
  status === 'running' || status === 'stopped'

type RollbackDeps = TriggerDeps & { secrets: Secrets }

/** Null when a rollback is possible. */
export function whyNoRollback(target: Deployment) {
  if (!isEnded(target.status)) return 'This deployment hasn’t ended. Wait for it, or cancel it.'
  if (!canRollBackTo(target))
    return 'This deployment has no image to roll back to: it was never built, or the image was cleaned up. Deploy its commit again.'
  return null
}

/** The variables that were set by hand when a deployment went live; null when they weren't kept. */
export function variablesOfThen(deps: Pick<RollbackDeps, 'db' | 'secrets'>, { id }: Deployment) {
  const settings = settingsOfRelease(deps, id)
  return settings && ownVariables(settings)
}

export const variablesNotKept =
  'Its variables weren’t kept: Davit keeps those of the last 20 live deployments, as long as their images are kept. Roll back with the current variables.'

/** Deploys an earlier image again, with current variables or, for this deployment only, the earlier ones. */
export function rollBack(
  deps: RollbackDeps,
  {
    project,
    target,
    triggeredBy,
    variables,
  }: {
    project: Project
    target: Deployment
    triggeredBy: string
    variables: 'today' | 'release'
  },
) {
  const refusal = whyNoRollback(target)
  if (refusal) throw new AppError('conflict', refusal)
  const then = variables === 'release' ? variablesOfThen(deps, target) : null
  if (variables === 'release' && !then) throw new AppError('conflict', variablesNotKept)
  const input = then && deps.secrets.seal(JSON.stringify(then), sealedAs(target.id))
  const { environmentId } = target
  const asked = { project, environmentId, imageOf: target, triggeredBy, input }
  return triggerDeployment(deps, { ...asked, trigger: 'rollback' })
}

/**
 * Reads the variables from the deployment's job. Those that were secret are masked in its containers' output,
 * even if they aren't secret now.
 */
export function restoredVariables(
  deps: Pick<RollbackDeps, 'db' | 'secrets'>,
  { deployment, input }: { deployment: Deployment; input: string },
): OpenVariable[] {
  const { imageOf, environmentId } = deployment
  const variables: OpenVariable[] = JSON.parse(deps.secrets.open(input, sealedAs(imageOf!)))
  const secret = variables.flatMap(({ value, secret }) => (secret ? [value] : []))
  if (secret.length > 0) rememberSecrets(deps, { environmentId }, secret)
  return variables
}

const sealedAs = (targetId: string) => `variables of ${targetId} for a rollback`
