import type { Db } from '../db/index.ts'
import { whyUnheard } from '../previews/life.ts'
import type { Definitions, MakePreviewDeps } from '../previews/make.ts'
import type { Pull } from '../previews/pull.ts'
import { deployPull, noteOutcome } from './deploy-pull.ts'
import { deployPush } from './deploy-push.ts'
import type { Deployed } from './deploy-push.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import { plain } from './push.ts'
import type { Push } from './push.ts'
import { countReports, forgetOldDeliveries, insertDelivery, updateDelivery } from './store.ts'
import type { Delivery, Receiver } from './store.ts'

/** `pull` is null for an event of a pull request that can’t be used. */
export type Content =
  | { push: Push; pull?: undefined }
  | { push: null; pull: Pull }
  | { push: null; pull: null; decision: 'ignored'; reason: string }
  | { push: null; pull?: undefined; decision: 'refused' | 'ignored'; reason: string }

export type Arrival = {
  provider: ProviderName
  /** The sender's id of the delivery. */
  id: string
  event: string
  signatureOk: boolean
  now: number
  /** Ids of environments whose watched paths aren't in the push. */
  untouched: ReadonlySet<string>
  /** Of the services that previews of pull requests get, too. */
  definitions: Definitions
} & Content

/** In characters. Paths are stored for a replay; a push with more counts as touching every path. */
const maxPaths = 20_000

/**
 * Stores a delivery in a project's inbox together with its deployments. Runs inside a transaction, so both
 * are stored before the response. The secret of the project `signer` signed it, if one did.
 */
export function deliver(
  deps: MakePreviewDeps,
  { signer, ...receiver }: Receiver & { signer: string | null },
  arrival: Arrival,
): Omit<Deployed, 'isFull'> {
  const { db } = deps
  const { project } = receiver
  const { provider, signatureOk, now, push, pull, untouched } = arrival
  const unheard = pull === undefined ? null : whyUnheard(db, project, pull)
  if (unheard !== null) return { queued: [], reason: unheard }
  const signedBy = signer === project.id ? null : signer
  const kept = insertDelivery(db, {
    projectId: project.id,
    provider,
    deliveryId: arrival.id,
    event: plain(arrival.event, 100),
    ...{ signatureOk, signedBy },
    createdAt: new Date(now),
    ...(push
      ? factsOf(push)
      : pull
        ? factsOfPull(pull)
        : { decision: arrival.decision, reason: arrival.reason }),
  })
  if (!kept) return { queued: [], reason: 'This delivery was received before.' }
  forgetOldDeliveries(db, { projectId: project.id, signatureOk, now })
  if (!push && !pull) return { queued: [], reason: arrival.reason }

  if (isRepeated(db, kept, { now })) {
    const reason = 'This push was received before, through another webhook of the repository.'
    updateDelivery(db, kept.id, { decision: 'ignored', reason })
    return { queued: [], reason }
  }
  if (pull) {
    const { definitions } = arrival
    const triggeredBy = pull.sender || provider
    const outcome = deployPull(deps, receiver, { pull, definitions, triggeredBy })
    noteOutcome(db, { delivery: kept, pull, outcome })
    return outcome
  }
  const triggeredBy = plain(push.pusher ?? '', 100) || provider
  const deployed = deployPush(db, receiver, { push, untouched, triggeredBy })
  updateDelivery(db, kept.id, {
    decision: deployed.queued.length > 0 ? 'deployed' : 'ignored',
    reason: deployed.reason,
    deploymentIds: deployed.queued.map(({ deployment }) => deployment.id),
  })
  return deployed
}

/** In milliseconds: how long after one webhook of a repository another one reports the same push. */
const mostApart = 3_600_000

/**
 * Projects of one owner get what is signed for one of them, so two webhooks of a repository report each push
 * twice. A ref may come back to a commit, so the reports are counted.
 */
function isRepeated(db: Db, delivery: Delivery, { now }: { now: number }) {
  const counts = countReports(db, { ...delivery, since: new Date(now - mostApart) })
  const own = counts.get(delivery.signedBy) ?? 0
  return [...counts].some(([signer, count]) => signer !== delivery.signedBy && count >= own)
}

const factsOf = (push: Push) => ({
  ref: plain(push.ref, 300),
  commitHash: push.after.toLowerCase(),
  commitMessage: push.message && plain(push.message.trimStart().split('\n')[0]!, 300),
  push: abridged(push),
})

const factsOfPull = (pull: Pull) => ({
  ref: pull.ref,
  commitHash: pull.commit || null,
  commitMessage: pull.title,
  push: { pull },
})

const abridged = ({ message, paths, ...push }: Push): Push => ({
  ...push,
  message: message && message.slice(0, 2000),
  defaultBranch: push.defaultBranch && push.defaultBranch.slice(0, 300),
  pusher: push.pusher && push.pusher.slice(0, 100),
  paths: paths && paths.join('').length <= maxPaths ? paths : null,
})
