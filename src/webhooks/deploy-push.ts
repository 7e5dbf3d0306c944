import type { Db } from '../db/index.ts'
import type { Queued } from '../deployments/waiting.ts'
import { enqueue, mayWait } from '../deployments/trigger.ts'
import type { Environment } from '../environments/store.ts'
import { whyNoMore } from '../platform/limits.ts'
import type { Project } from '../projects/store.ts'
import type { Decision } from './decide.ts'
import { branchOf, tagOf } from './push.ts'
import type { Push } from './push.ts'

/** What was put into the queue, and what became of the push, in a sentence. */
export type Deployed = { queued: Queued[]; reason: string }

/**
 * Queues a deployment of the pushed commit for each of the environments, but for those that would wait
 * beyond what their owner may have waiting. Runs in a transaction: the caller tells and wakes.
 */
export function deployPush(
  db: Db,
  {
    project,
    push,
    decision,
    triggeredBy,
  }: { project: Project; push: Push; decision: Decision; triggeredBy: string },
): Deployed {
  const queued: Queued[] = []
  const left: Environment[] = []
  for (const environment of decision.environments) {
    if (!mayWait(db, { project, environment })) {
      left.push(environment)
      continue
    }
    const branch = branchOf(push)
    const asked = {
      environmentId: environment.id,
      // what a tag points at may not be a commit: it is deployed by its name
      ...(branch === null ? { branch: tagOf(push) } : { branch, commit: push.after.toLowerCase() }),
    }
    queued.push(enqueue(db, { project, trigger: 'webhook', triggeredBy, ...asked }))
  }
  if (left.length === 0) return { queued, reason: decision.reason }
  const names = left.map(({ name }) => name).join(', ')
  return { queued, reason: `Not deployed to ${names}: ${whyNoMore('deployments')}` }
}
