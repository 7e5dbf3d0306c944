import type { Deps } from '../deps.ts'
import type { Deployment } from '../deployments/store.ts'
import { triggerDeployment } from '../deployments/trigger.ts'
import type { Environment } from '../environments/store.ts'
import type { Project } from '../projects/store.ts'
import { branchOf } from './push.ts'
import type { Push } from './push.ts'

export type DeployDeps = Pick<Deps, 'db' | 'logDb' | 'logs' | 'queue'>

/** Stands in for the queue inside a transaction: what may be rolled back is not begun. */
const asleep = { wake() {} } as Deps['queue']

/** Inserts a deployment of the pushed commit for each of the environments; the caller wakes the queue. */
export const deployPush = (
  deps: DeployDeps,
  {
    project,
    push,
    environments,
    triggeredBy,
  }: { project: Project; push: Push; environments: Environment[]; triggeredBy: string },
): Deployment[] =>
  environments.map(({ id }) =>
    triggerDeployment(
      { ...deps, queue: asleep },
      {
        project,
        trigger: 'webhook',
        triggeredBy,
        environmentId: id,
        branch: branchOf(push),
        commit: push.after.toLowerCase(),
      },
    ),
  )
