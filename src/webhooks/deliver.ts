import type { Deployment } from '../deployments/store.ts'
import { listEnvironments } from '../environments/store.ts'
import { decide } from './decide.ts'
import { deployPush } from './deploy-push.ts'
import type { DeployDeps } from './deploy-push.ts'
import type { ProviderName } from './provider.ts'
import type { Push } from './push.ts'
import { forgetOldDeliveries, insertDelivery, updateDelivery } from './store.ts'
import type { Receiver } from './store.ts'

/** The push that a delivery brought, or why there is none in it. */
export type Content =
  { push: Push } | { push: null; decision: 'refused' | 'ignored'; reason: string }

export type Arrival = {
  provider: ProviderName
  /** The sender's own id of it. */
  id: string
  event: string
  signatureOk: boolean
  now: number
  /** Ids of projects none of whose watched paths the push touches. */
  untouched: ReadonlySet<string>
} & Content

/** What became of a delivery for one project. */
export type Outcome = { deployments: Deployment[]; reason: string }

/** Paths that are kept for deciding again; of a push with more, every path counts as touched then. */
const maxPaths = 500

/**
 * Puts a delivery into the inbox of a project and inserts what it deploys. Runs inside a transaction:
 * once it is answered, both are there.
 */
export function deliver(
  deps: DeployDeps,
  { project, isOwnerDisabled }: Receiver,
  arrival: Arrival,
): Outcome {
  const { provider, signatureOk, now, push, untouched } = arrival
  const kept = insertDelivery(deps.db, {
    projectId: project.id,
    provider,
    deliveryId: arrival.id,
    event: plain(arrival.event, 100),
    signatureOk,
    createdAt: new Date(now),
    ...(push ? factsOf(push) : { decision: arrival.decision, reason: arrival.reason }),
  })
  if (!kept) return { deployments: [], reason: 'This delivery was received before.' }
  forgetOldDeliveries(deps.db, { projectId: project.id, signatureOk, now })
  if (!push) return { deployments: [], reason: arrival.reason }

  const environments = listEnvironments(deps.db, project.id)
  const decision = decide(push, { project, environments, isOwnerDisabled, untouched })
  const triggeredBy = plain(push.pusher ?? '', 100) || provider
  const deployments = deployPush(deps, { ...decision, project, push, triggeredBy })
  updateDelivery(deps.db, kept.id, {
    decision: deployments.length > 0 ? 'deployed' : 'ignored',
    reason: decision.reason,
    deploymentIds: deployments.map(({ id }) => id),
  })
  return { deployments, reason: decision.reason }
}

const factsOf = (push: Push) => ({
  ref: plain(push.ref, 300),
  commitHash: push.after.toLowerCase(),
  commitMessage: push.message && plain(push.message.trimStart().split('\n')[0]!, 300),
  push: abridged(push),
})

const abridged = ({ message, paths, ...push }: Push): Push => ({
  ...push,
  message: message && message.slice(0, 2000),
  paths: paths && paths.length <= maxPaths ? paths : null,
})

/** What strangers wrote, as one line that can be stored and shown. */
const plain = (text: string, max: number) =>
  text
    .slice(0, max)
    .toWellFormed()
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
