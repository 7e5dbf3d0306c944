import type { PruneRuns } from '../containers/clean-up/runs.ts'
import type { Db } from '../db/index.ts'
import type { Status } from '../deployments/store.ts'
import type { ServiceRunner } from '../services/runner.ts'
import type { ServiceStatus } from '../services/store.ts'
import { listBusyServices, listUnended } from './store.ts'

/** One piece of work that waits or is being done, whoever it is for. */
export type Activity = {
  /** Of the deployment or service; a clean-up has none. */
  id: string | null
  /** What is worked on, such as the project and its environment. */
  name: string
  owner: { id: string | null; email: string }
  since: Date
} & (
  | { kind: 'deployment'; status: Status }
  | { kind: 'service'; status: ServiceStatus }
  | { kind: 'clean-up'; status: 'running' }
)

/** What goes on over all users: deployments first, those at work before those that wait. */
export function listActivity({
  db,
  runner,
  pruneRuns,
}: {
  db: Db
  runner: ServiceRunner
  pruneRuns: PruneRuns
}): Activity[] {
  const deployments = listUnended(db).map(
    ({ deployment, project, environment, owner }): Activity => ({
      kind: 'deployment',
      id: deployment.id,
      name: `${project.name}, ${environment.name}`,
      status: deployment.status,
      owner,
      since: deployment.createdAt,
    }),
  )
  const services = listBusyServices(db, runner.busyIds()).map(
    ({ service: { id, name, status, createdAt }, owner }): Activity => ({
      kind: 'service',
      id,
      name,
      status,
      owner,
      since: runner.beganAt(id) ?? createdAt,
    }),
  )
  const isWaiting = ({ status }: Activity) => status === 'pending'
  return [
    ...deployments.toSorted((a, b) => Number(isWaiting(a)) - Number(isWaiting(b))),
    ...services,
    ...(pruneRuns.isBusy ? [cleanUpOf(pruneRuns.latest!)] : []),
  ]
}

const cleanUpOf = ({ userId, by, startedAt }: NonNullable<PruneRuns['latest']>): Activity => ({
  kind: 'clean-up',
  id: null,
  name: 'Clean-up',
  status: 'running',
  owner: { id: userId, email: by },
  since: startedAt,
})
