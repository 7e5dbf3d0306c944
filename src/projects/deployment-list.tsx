import type { deployments, environments } from '../db/schema.ts'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago, duration } from '../web/times.tsx'
import type { Project } from './store.ts'

type Deployment = typeof deployments.$inferSelect

export type DeploymentItem = {
  deployment: Deployment
  environment: Pick<typeof environments.$inferSelect, 'name'>
  /** Named where deployments of several projects stand together. */
  project?: Pick<Project, 'name'>
}

/** Deployments, newest first, each a line that leads to its page. */
export const DeploymentList = ({ items }: { items: DeploymentItem[] }) => (
  <ol class="rows">
    {items.map((item) => (
      <Row {...item} />
    ))}
  </ol>
)

const Row = ({ deployment, environment, project }: DeploymentItem) => (
  <li class="row deployment-row">
    <StatusBadge status={deployment.status} />
    <div class="row-main">
      <a class="row-link" href={deploymentPath(deployment)}>
        <bdi>{deploymentTitle(deployment)}</bdi>
      </a>
      <p class="row-facts">
        {project && <bdi>{project.name}</bdi>}
        <bdi>{environment.name}</bdi>
        {deployment.commitHash && (
          <code title={deployment.commitHash}>{deployment.commitHash.slice(0, 7)}</code>
        )}
        {deployment.imageOf && (
          <span>{deployment.trigger === 'rollback' ? 'rollback' : 'without a build'}</span>
        )}
        <bdi>{deployment.triggeredBy}</bdi>
      </p>
    </div>
    <p class="row-end">
      <Ago at={deployment.createdAt} />
      <span class="muted">{took(deployment)}</span>
    </p>
  </li>
)

export const deploymentPath = ({ projectId, id }: Pick<Deployment, 'projectId' | 'id'>) =>
  `/projects/${projectId}/deployments/${id}`

/** What a person knows it by: the commit's first line, until there is one the branch. */
export function deploymentTitle({
  commitMessage,
  trigger,
  branch,
  commitHash,
  requestedCommit,
}: Deployment) {
  if (commitMessage) return commitMessage
  const commit = (commitHash ?? requestedCommit)?.slice(0, 7)
  if (trigger === 'rollback') return commit ? `Rollback to ${commit}` : 'Rollback'
  return commit ? `Commit ${commit}` : (branch ?? 'Default branch')
}

/** How long the steps took, once they are over. */
function took({ steps }: Deployment) {
  const [first, last] = [steps[0], steps.at(-1)]
  if (!first || !last?.finishedAt) return null
  return duration(Date.parse(last.finishedAt) - Date.parse(first.startedAt))
}
