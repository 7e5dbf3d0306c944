import { z } from 'zod'
import type { Db } from '../db/index.ts'
import { listPromotedTo } from '../environments/promotion-store.ts'
import { refuseShared } from '../environments/share.ts'
import { findEnvironment } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { Project } from '../projects/store.ts'
import { line } from '../web/fields.ts'
import { versionsOf } from './compare.ts'
import { interruptionOf, releaseCommandOf, settingsWith, whyNoImage } from './preview.ts'
import type { PreviewDeps } from './preview.ts'
import { isLive } from './rollback.ts'
import { buildDifferences } from './settings.ts'
import { findDeployment, getCurrent } from './store.ts'
import type { Deployment, Job } from './store.ts'
import { enqueue } from './trigger.ts'
import { note } from './trigger-forms.ts'
import type { Queued } from './waiting-store.ts'

/** By default the version that is live in the environment it gets its versions from. */
export const promoteForm = z.object({
  deploymentId: line('the id of a deployment', { max: 100 }).nullish(),
  note: note(),
})

type Target = { project: Project; environment: Environment }

/** True when it is live, or was. */
const hasServed = (deployment: Deployment) => {
  const hasDeployed = deployment.steps.some(
    ({ name, finishedAt }) => name === 'deploying' && finishedAt !== null,
  )
  return isLive(deployment) || (deployment.status === 'superseded' && hasDeployed)
}

/** Null when its version can be promoted. */
export function whyNoPromotion(source: Deployment) {
  if (!hasServed(source)) return 'This deployment didn’t go live, so it can’t be promoted.'
  if (source.image === null)
    return 'The image of this deployment was cleaned up. Deploy its commit there again, then promote that.'
  return null
}

/** Finds what to promote, and from where. */
export function findPromotable(
  db: Db,
  { project, environment: { name, promoteFrom } }: Target,
  deploymentId: string | null | undefined,
) {
  if (promoteFrom === null)
    throw new AppError(
      'conflict',
      `${name} builds its own versions. Choose in its settings what it is promoted from.`,
    )
  const from = findEnvironment(db, { id: promoteFrom, projectId: project.id })
  if (!deploymentId) refuseShared(db, from) // which version goes on there isn't decided
  const source = deploymentId
    ? findDeployment(db, { id: deploymentId, projectId: project.id })
    : getCurrent(db, from.id)
  if (!source) throw new AppError('conflict', `Nothing is deployed to ${from.name} yet.`)
  if (source.environmentId !== from.id)
    throw invalidField('deploymentId', `must be a deployment to ${from.name}.`)
  return { from, source }
}

export type Promoted = { environment: Environment } & (
  { queued: Queued } | { queued: null; reason: string }
)

/** As a line of a log. */
export const promotedIn = ({ environment: { name }, ...next }: Promoted) =>
  next.queued
    ? `Promoted to ${name}: deployment #${next.queued.deployment.number}.`
    : `Not promoted to ${name}: ${next.reason}`

/**
 * Queues what is promoted automatically. Call it in the transaction in which the version went live, so that a
 * crash leaves both or none. A rollback and a restart with other settings stay where they are.
 */
export function promoteNext(db: Db, { project, deployment }: Pick<Job, 'project' | 'deployment'>) {
  if (deployment.imageOf !== null && deployment.trigger !== 'promotion') return []
  const { environmentId, triggeredBy } = deployment
  return listPromotedTo(db, environmentId)
    .filter(({ promoteAutomatically }) => promoteAutomatically)
    .map((environment): Promoted => {
      const asked = { environmentId: environment.id, imageOf: deployment, triggeredBy }
      try {
        const queue = () => enqueue(db, { project, trigger: 'promotion', ...asked })
        return { environment, queued: db.transaction(queue) }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { environment, queued: null, reason: error.message }
      }
    })
}

export type PromotionPreview = Awaited<ReturnType<typeof previewPromotion>>

/** Lists what a promotion would change. The result has no values that are or were secret. */
export async function previewPromotion(
  deps: PreviewDeps,
  { project, environment, source }: Target & { source: Deployment },
) {
  const { db } = deps
  const settings = await settingsWith(deps, {
    project,
    environment,
    target: source,
    own: undefined,
  })
  return {
    ...versionsOf(db, { current: getCurrent(db, environment.id), target: source }),
    /** The reason why it is impossible; null when it is possible. */
    refused: whyNoPromotion(source) ?? (await whyNoImage(deps, source)),
    /** Keys of variables that differ from those its image was built with; null when unknown. */
    builtWithout: settings && buildDifferences(deps, source, settings),
    releaseCommand: releaseCommandOf(environment),
    interruption: await interruptionOf(deps, { project, environment, target: source, settings }),
  }
}
