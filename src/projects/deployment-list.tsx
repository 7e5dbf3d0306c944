import type { Child } from 'hono/jsx'
import type { deployments, environments } from '../db/schema.ts'
import { shortDigest } from '../web/components.tsx'
import { Person } from '../web/person.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { duration } from '../web/units.ts'
import type { Project } from './store.ts'

type Deployment = typeof deployments.$inferSelect

export type DeploymentItem = {
  deployment: Deployment
  environment: Pick<typeof environments.$inferSelect, 'name'>
  /** The deployment that built its image, if another one did; null once that was deleted. */
  imageNumber: number | null
  project?: Pick<Project, 'name'>
}

/** Newest first, each linked to its page. */
export const DeploymentList = ({
  items,
  rests,
  actions,
}: {
  items: DeploymentItem[]
  /** What versions get of the requests, in percent, beside one that has a share of them. */
  rests: ReadonlyMap<string, number>
  actions?: (item: DeploymentItem) => Child
}) => (
  <ol class="rows">
    {items.map((item) => (
      <Row {...item} rest={rests.get(item.deployment.id)} actions={actions?.(item)} />
    ))}
  </ol>
)

const Row = ({
  deployment,
  environment,
  project,
  imageNumber,
  rest,
  actions,
}: DeploymentItem & { rest: number | undefined; actions?: Child }) => (
  <li class="row deployment-row" id={`d${deployment.id}`}>
    <StatusBadge status={deployment.status} rest={rest} />
    <div class="row-main">
      <a class="row-link" href={deploymentPath(deployment)}>
        <bdi>{commitTitle(deployment)}</bdi>
      </a>
      <p class="row-facts">
        <span>#{deployment.number}</span>
        {project && <bdi>{project.name}</bdi>}
        <bdi>{environment.name}</bdi>
        {deployment.commitHash && (
          <code title={deployment.commitHash}>{deployment.commitHash.slice(0, 7)}</code>
        )}
        {deployment.upload && (
          <span>{deployment.upload.dirty ? 'uploaded, dirty' : 'uploaded'}</span>
        )}
        {deployment.pullDigest && (
          <code title={deployment.pullDigest}>{shortDigest(deployment.pullDigest)}</code>
        )}
        {deployment.noCache && <span>without cache</span>}
        {deployment.imageOf && (
          <span>
            {imageFrom[deployment.trigger] ?? 'image of'} #{imageNumber ?? '?'}
          </span>
        )}
        <Person email={deployment.triggeredBy} />
      </p>
    </div>
    <p class="row-end">
      <Ago at={deployment.createdAt} />
      <span class="muted">{took(deployment)}</span>
    </p>
    {actions}
  </li>
)

const imageFrom: Partial<Record<Deployment['trigger'], string>> = {
  rollback: 'rollback to',
  promotion: 'promoted from',
}

export const deploymentPath = ({ projectId, id }: Pick<Deployment, 'projectId' | 'id'>) =>
  `/projects/${projectId}/deployments/${id}`

/** For people, such as `Deployment #12 · Hello / production`. */
export const deploymentTitle = (
  { number }: Pick<Deployment, 'number'>,
  { project, environment }: Record<'project' | 'environment', { name: string }>,
) => `Deployment #${number} · ${project.name} / ${environment.name}`

/** Of what its `branch` is the name. */
export const refTitle = ({ refType }: Pick<Deployment, 'refType'>) =>
  refType === 'pull' ? 'Pull request' : refType === 'tag' ? 'Tag' : 'Branch'

/** The first line of the commit message or, until it is known, the branch; or the image that it pulls. */
export function commitTitle({
  commitMessage,
  trigger,
  branch,
  refType,
  commitHash,
  requestedCommit,
  pullReference,
  upload,
}: Deployment) {
  if (pullReference) return trigger === 'rollback' ? `Rollback to ${pullReference}` : pullReference
  if (commitMessage) return commitMessage
  if (upload?.message) return upload.message
  const commit = (commitHash ?? requestedCommit ?? upload?.commit)?.slice(0, 7)
  if (trigger === 'rollback') return commit ? `Rollback to ${commit}` : 'Rollback'
  if (upload && !commit) return 'Upload'
  return commit
    ? `Commit ${commit}`
    : branch
      ? `${refTitle({ refType })} ${branch}`
      : 'Default branch'
}

function took({ steps }: Deployment) {
  const [first, last] = [steps[0], steps.at(-1)]
  if (!first || !last?.finishedAt) return null
  return duration(Date.parse(last.finishedAt) - Date.parse(first.startedAt))
}
