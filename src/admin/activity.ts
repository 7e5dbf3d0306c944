import type { Db } from '../db/index.ts'
import type { Status } from '../deployments/store.ts'
import type { ServiceStatus } from '../services/store.ts'
import { stepOfJob } from '../apps/app-jobs.ts'
import type { AppStep } from '../apps/app-jobs.ts'
import { environmentPath } from '../environments/views.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { runPath } from '../runs/runs-page.tsx'
import type { RunStatus } from '../runs/store.ts'
import { servicePath } from '../services/own-service.ts'
import { listJobs } from './store.ts'

/** One piece of work that waits or is being done, whoever it is for. */
export type Activity = {
  /** Of the deployment, environment, run or service; a clean-up has none. */
  id: string | null
  /** What is worked on, such as the project and its environment. */
  name: string
  owner: { id: string | null; email: string }
  since: Date
  /** Its page, which is its owner's alone. */
  path: string | null
} & (
  | { kind: 'deployment'; status: Status }
  /** It is started, restarted or stopped as a whole. */
  | { kind: 'environment'; status: AppStep }
  | { kind: 'run'; status: RunStatus }
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
  const { job, deployment, project, environment, run, service } = row
  const owner = row.owner ?? { id: null, email: 'the clean-up of every day' }
  const at = { owner, since: job.createdAt }
  if (job.kind === 'clean-up')
    return { ...at, kind: 'clean-up', id: null, name: 'Clean-up', status: 'running', path: null }
  if (project && environment) {
    const { id } = job
    const within = { ...at, name: `${project.name}, ${environment.name}` }
    if (deployment)
      return {
        ...within,
        kind: 'deployment',
        id,
        status: deployment.status,
        path: deploymentPath({ projectId: project.id, id }),
      }
    // its command is left out: it may have secrets of its owner
    if (run) return { ...within, kind: 'run', id, status: run.status, path: runPath(run) }
    const status = stepOfJob(job)
    const path = environmentPath(environment)
    return status && { ...within, kind: 'environment', id: environment.id, status, path }
  }
  if (!service) return null
  const id = job.subjectId
  return { ...at, kind: 'service', id, ...service, path: servicePath({ id }) }
}

const rankOf = ({ kind, status }: Activity) =>
  ['deployment', 'environment', 'run', 'service', 'clean-up'].indexOf(kind) +
  (status === 'pending' ? 0.5 : 0)
