import type { Db } from '../db/index.ts'
import type { Status } from '../deployments/store.ts'
import type { ServiceStatus } from '../services/store.ts'
import { stepOfJob } from '../environments/app-steps.ts'
import type { AppStep } from '../environments/app-steps.ts'
import { environmentPath } from '../environments/views.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { runPath } from '../runs/runs-page.tsx'
import type { RunStatus } from '../runs/store.ts'
import { servicePath } from '../services/own-service.ts'
import { listJobs } from './store.ts'

export type Activity = {
  /** The id of the deployment, environment, run or service; null for a clean-up. */
  id: string | null
  /** The name of its subject, such as a project and its environment. */
  name: string
  owner: { id: string | null; email: string }
  since: Date
  /** The path of its page, which only its owner may see. */
  path: string | null
} & (
  | { kind: 'deployment'; status: Status }
  /** A start, restart or stop of the whole app. */
  | { kind: 'environment'; status: AppStep }
  | { kind: 'run'; status: RunStatus }
  | { kind: 'service'; status: ServiceStatus }
  | { kind: 'clean-up'; status: 'running' }
)

/** Jobs of all users: deployments first, running before queued. */
export const listActivity = (db: Db): Activity[] =>
  listJobs(db)
    .flatMap((row) => activityOf(row) ?? [])
    .toSorted((a, b) => rankOf(a) - rankOf(b))

/** Null if its subject was deleted meanwhile. */
function activityOf(row: ReturnType<typeof listJobs>[number]): Activity | null {
  const { job, deployment, project, environment, run, service } = row
  const owner = row.owner ?? { id: null, email: 'the daily clean-up' }
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
    // without its command, which may contain the owner's secrets
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
