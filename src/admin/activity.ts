import type { Db } from '../db/index.ts'
import type { Status } from '../deployments/store.ts'
import type { ServiceStatus } from '../services/store.ts'
import { listJobs } from './store.ts'

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
export const listActivity = (db: Db): Activity[] =>
  listJobs(db)
    .flatMap((row) => activityOf(row) ?? [])
    .toSorted((a, b) => rankOf(a) - rankOf(b))

/** Null for work on what was deleted meanwhile. */
function activityOf(row: ReturnType<typeof listJobs>[number]): Activity | null {
  const { job, deployment, project, environment, service } = row
  const owner = row.owner ?? { id: null, email: 'the clean-up of every day' }
  const at = { owner, since: job.createdAt }
  if (job.kind === 'clean-up')
    return { ...at, kind: 'clean-up', id: null, name: 'Clean-up', status: 'running' }
  if (deployment && project && environment) {
    const name = `${project.name}, ${environment.name}`
    return { ...at, kind: 'deployment', id: job.id, name, status: deployment.status }
  }
  if (!service) return null
  return { ...at, kind: 'service', id: job.subjectId, ...service }
}

const rankOf = ({ kind, status }: Activity) =>
  ['deployment', 'service', 'clean-up'].indexOf(kind) + (status === 'pending' ? 0.5 : 0)
