import type { Context } from 'hono'
import { asWriter } from '../db/queries.ts'
import { refuseUngiven } from '../accounts/token-scope.ts'
import type { CheckWatch } from '../deployments/checks.ts'
import type { ImageWatch } from '../deployments/new-images/image-watch.ts'
import type { TriggerDeps } from '../deployments/trigger.ts'
import type { Deployment } from '../deployments/store.ts'
import { listEnvironments } from '../environments/store.ts'
import { publishSuperseded } from '../deployments/waiting-store.ts'
import { AppError } from '../platform/errors.ts'
import type { Outcome } from '../previews/life.ts'
import { readDefinitions } from '../previews/make.ts'
import type { Definitions, MakePreviewDeps } from '../previews/make.ts'
import type { Pull } from '../previews/pull.ts'
import type { Project } from '../projects/store.ts'
import { followedTag } from '../registries/tag-pattern.ts'
import type { Env } from '../web/factory.ts'
import { deployPull, noteOutcome } from './deploy-pull.ts'
import { deployPush } from './deploy-push.ts'
import type { Push } from './push.ts'
import { decisionOf } from './registry-hook.ts'
import { getReceiver, takeWaiting, updateDelivery } from './store.ts'
import type { Delivery } from './store.ts'
import { untouchedBy } from './watch-paths.ts'

/** Only `deliver` writes it. */
const pullOf = ({ push }: Pick<Delivery, 'push'>) => (push?.pull as Pull | undefined) ?? null

/** One that was closed may have been reopened since, and a replay would delete its preview. */
export const canReplay = ({ signatureOk, push }: Delivery) =>
  signatureOk && push !== null && pullOf({ push })?.action !== 'closed'

/** The scope that a token needs for what makes environments and services. */
const toMake = { method: 'POST', path: '/projects/:id/envs' }

/** An event of a pull request may make more than a deployment. */
export function refuseMaking(c: Context, delivery: Delivery) {
  const { token } = (c as Context<Env>).var
  if (token && pullOf(delivery)) refuseUngiven(token, toMake)
}

export type ReplayDeps = TriggerDeps & MakePreviewDeps & { images: ImageWatch; checks: CheckWatch }
type Replay = { project: Project; delivery: Delivery; triggeredBy: string; signal: AbortSignal }

/** Uses the project's current settings. The event of a pull request may have another effect than a deployment. */
export async function replay(deps: ReplayDeps, asked: Replay): Promise<Deployment[]> {
  const { project, delivery, triggeredBy } = asked
  if (!canReplay(delivery)) throw nothing(delivery.reason)
  if (typeof delivery.push!.tag === 'string') return replayImage(deps, asked, delivery.push!.tag)
  const pull = pullOf(delivery)
  if (pull) return replayPull(deps, asked, pull)
  const push = delivery.push as Push // only `deliver` writes it
  const environments = listEnvironments(deps.db, project.id)
  const untouched = await untouchedBy(push, [{ project, environments }])
  const queued = asWriter(deps.db, () => {
    const receiver = { project, isOwnerDisabled: false }
    const of = { push, untouched, triggeredBy }
    const { queued, reason, isFull } = deployPush(deps.db, receiver, of)
    if (queued.length === 0)
      throw isFull ? new AppError('too_many', reason, { retryAfter: 60 }) : nothing(reason)
    const made = queued.map(({ deployment }) => deployment.id)
    updateDelivery(deps.db, delivery.id, {
      decision: 'deployed',
      reason,
      deploymentIds: [...delivery.deploymentIds, ...made],
    })
    return queued
  })
  for (const one of queued) publishSuperseded(deps, one)
  deps.jobs.wake()
  deps.checks.wake()
  return queued.map(({ deployment }) => deployment)
}

async function replayPull(
  deps: ReplayDeps,
  { project, delivery, triggeredBy }: Replay,
  pull: Pull,
) {
  const receiver = { project, isOwnerDisabled: false }
  const { decision, reason, queued } = await applyAgain(deps, project, (definitions) => {
    const outcome = deployPull(deps, receiver, { pull, definitions, triggeredBy })
    if (outcome.decision !== 'ignored') noteOutcome(deps.db, { delivery, pull, outcome })
    return outcome
  })
  if (decision === 'ignored') throw nothing(reason)
  return queued.map(({ deployment }) => deployment)
}

type PullDeps = TriggerDeps & MakePreviewDeps & { checks: Pick<CheckWatch, 'wake'> }

/** Calls `apply` in a transaction. */
async function applyAgain<Applied extends Pick<Outcome, 'queued'>>(
  deps: PullDeps,
  project: Project,
  apply: (definitions: Definitions) => Applied,
): Promise<Applied> {
  const definitions = await readDefinitions(deps, [project])
  const outcome = asWriter(deps.db, () => apply(definitions))
  for (const one of outcome.queued) publishSuperseded(deps, one)
  deps.jobs.wake()
  deps.checks.wake()
  deps.scheduler.wake()
  return outcome
}

/** Applies the newest event that came while the preview of its pull request was being deleted. */
export async function bringBack(deps: PullDeps, of: { projectId: string; number: number }) {
  const known = getReceiver(deps.db, of.projectId)
  if (!known) return
  await applyAgain(deps, known.project, (definitions) => {
    const receiver = getReceiver(deps.db, of.projectId)
    const delivery = takeWaiting(deps.db, of)
    const pull = delivery && pullOf(delivery)
    if (!receiver || !pull) return { queued: [] } // the project was deleted meanwhile, or it was brought back
    const triggeredBy = pull.sender || delivery.provider
    const outcome = deployPull(deps, receiver, { pull, definitions, triggeredBy })
    noteOutcome(deps.db, { delivery, pull, outcome })
    return outcome
  })
}

/** Asks the registry again, which may have yet another image for the tag. */
async function replayImage(
  { db, images }: ReplayDeps,
  { project, delivery, triggeredBy, signal }: Replay,
  tag: string,
) {
  if (project.image === null) throw nothing('The project deploys no image any more.')
  if (followedTag(project.image, [tag]) === null)
    throw nothing(`The project doesn’t follow the tag ${tag} any more.`)
  const { deployments, reason } = await images.check({
    ...{ project, tag, signal, by: { trigger: 'webhook', triggeredBy } },
    stored(outcome) {
      const { deploymentIds, ...decision } = decisionOf(outcome)
      if (deploymentIds.length > 0)
        updateDelivery(db, delivery.id, {
          ...decision,
          deploymentIds: [...delivery.deploymentIds, ...deploymentIds],
        })
    },
  })
  if (deployments.length === 0) throw nothing(reason)
  return deployments
}

const nothing = (reason: string | null) =>
  new AppError('conflict', `There is nothing to replay. ${reason}`)
