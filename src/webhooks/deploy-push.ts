import type { Db } from '../db/index.ts'
import { enqueue, mayWait } from '../deployments/trigger.ts'
import type { Queued } from '../deployments/waiting-store.ts'
import { follows } from '../environments/followed.ts'
import { listEnvironments } from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { refuseBranch } from '../git/ref-names.ts'
import { whyNoMore } from '../platform/limits.ts'
import { previewIds } from '../projects/store.ts'
import { branchOf, isZero, tagOf } from './push.ts'
import type { Push } from './push.ts'
import type { Receiver } from './store.ts'

type Pushed = {
  push: Push
  /** Ids of environments whose watched paths aren't in the push. */
  untouched: ReadonlySet<string>
}

/** `outcome` is a sentence. */
export type Deployed = {
  queued: Queued[]
  reason: string
  /** True when a deployment was skipped because its owner has too many queued. */
  isFull: boolean
}

/**
 * Queues a deployment of the pushed commit for each environment that follows it, up to the owner's limit of
 * queued deployments. Runs in a transaction; the caller publishes events and wakes the queue.
 */
export function deployPush(
  db: Db,
  receiver: Receiver,
  { triggeredBy, ...pushed }: Pushed & { triggeredBy: string },
): Deployed {
  const { project } = receiver
  const { push } = pushed
  const queued: Queued[] = []
  const left: Environment[] = []
  const apart = previewIds(db, project.id) // the events of their pull requests deploy those
  const others = listEnvironments(db, project.id).filter(({ id }) => !apart.has(id))
  const { environments, reason } = decide(receiver, others, pushed)
  for (const environment of environments) {
    if (!mayWait(db, { project, environment })) {
      left.push(environment)
      continue
    }
    const branch = branchOf(push)
    const asked = {
      environmentId: environment.id,
      waitsForChecks: environment.waitForChecks,
      // a tag may be an object of its own, or point to no commit; it is then deployed by name
      ...(branch === null
        ? { tag: tagOf(push), commit: push.tagged?.toLowerCase() }
        : { branch, refType: 'branch' as const, commit: push.after.toLowerCase() }),
    }
    queued.push(enqueue(db, { project, trigger: 'webhook', triggeredBy, ...asked }))
  }
  if (left.length === 0)
    return { queued, reason: saidOf(environments, queued) ?? reason, isFull: false }
  const why = `Not deployed to ${namesOf(left)}: ${whyNoMore('deployments')}`
  return { queued, reason: why, isFull: true }
}

function saidOf(environments: Environment[], queued: Queued[]) {
  const isHeld = ({ id }: Environment) =>
    queued.some(({ deployment }) => deployment.environmentId === id && deployment.freeze !== null)
  const held = environments.filter(isHeld)
  if (held.length === 0) return null
  const others = environments.filter((one) => !isHeld(one))
  const waits = `Waits for the end of a freeze: ${namesOf(held)}.`
  return others.length === 0 ? waits : `Deployed to ${namesOf(others)}. ${waits}`
}

/** The environments that a push deploys. If there are none, `reason` says why. */
type Decision = { environments: Environment[]; reason: string }

/** Decides by the project's current settings. */
function decide(
  { project, isOwnerDisabled }: Receiver,
  environments: Environment[],
  { push, untouched }: Pushed,
): Decision {
  const branch = branchOf(push)
  const name = branch ?? tagOf(push)
  if (project.deletingAt) return nothing('The project is being deleted.')
  if (isOwnerDisabled) return nothing('The account of the project’s owner is disabled.')
  if (name === null) return nothing('The pushed ref is neither a branch nor a tag.')
  const refused = refuseBranch(name)
  if (refused) return nothing(refused)
  const ref = { name, type: branch === null ? ('tag' as const) : ('branch' as const) }
  const what = `${ref.type} ${name}`
  if (isZero(push.after)) return nothing(`The ${what} was deleted.`)

  const following = environments.filter((environment) => {
    if (environment.deletingAt) return false
    return follows({ environment, project }, { ...ref, isDefault: isDefault(name, push) })
  })
  if (following.length === 0) return nothing(notFollowed(what))
  const built = following.filter(({ promoteFrom }) => promoteFrom === null)
  if (built.length === 0)
    return nothing(`${namesOf(following)} gets its versions from another environment.`)
  const automatic = built.filter(({ autoDeploy }) => autoDeploy ?? project.autoDeploy)
  if (automatic.length === 0) return nothing(`Deploying on push is off for ${namesOf(built)}.`)
  if (push.skip) return nothing(push.skip)
  const touched = automatic.filter(({ id }) => !untouched.has(id))
  if (touched.length === 0) return nothing('The push changes none of the watched paths.')
  return { environments: touched, reason: `Deployed to ${namesOf(touched)}.` }
}

/** If the sender doesn't name the default branch, a common name is assumed. */
const isDefault = (branch: string, { defaultBranch }: Push) =>
  (defaultBranch === null ? ['main', 'master'] : [defaultBranch]).includes(branch)

export const notFollowed = (what: string) => `No environment follows the ${what}.`

const nothing = (reason: string): Decision => ({ environments: [], reason })

const namesOf = (environments: Environment[]) => environments.map(({ name }) => name).join(', ')
