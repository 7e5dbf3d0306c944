import { environmentPath } from '../environments/views.tsx'
import { deploymentPath, deploymentTitle } from '../projects/deployment-list.tsx'
import { AppAddress, CommitRef, Fact, PageHead, Trouble } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago, duration } from '../web/times.tsx'
import { canRollBackTo } from './rollback.ts'
import type { Line } from '../logs/log-line.tsx'
import { LogViewer } from '../logs/viewer.tsx'
import { StepTimeline } from './step-timeline.tsx'
import { isEnded } from './store.ts'
import type { Project } from '../projects/store.ts'
import type { Environment } from '../environments/store.ts'
import type { Deployment } from './store.ts'

type Props = {
  project: Project
  environment: Environment
  deployment: Deployment
  /** Whether its end has been asked for. */
  isCancelling: boolean
}

/**
 * What a deployment is doing, and what can be done about it. While it is active it asks for itself
 * again when the log's stream tells of a change, and every two seconds should that be cut off.
 */
export const DeploymentStatus = ({ project, environment, deployment, isCancelling }: Props) => (
  <section
    id="deployment-status"
    class="deployment-status"
    aria-label="Status"
    data-announce={`The deployment is ${deployment.status}.`}
  >
    <PageHead
      title={deploymentTitle(deployment)}
      crumbs={[
        { href: '/projects', name: 'Projects' },
        { href: `/projects/${project.id}`, name: project.name },
        { href: `/projects/${project.id}/deployments`, name: environment.name },
      ]}
    />
    {(deployment.status === 'failed' ||
      (deployment.status === 'stopped' && deployment.errorCode)) && (
      <DeploymentError deployment={deployment} />
    )}
    <div class="status-line">
      <StatusBadge status={deployment.status} />
      {deployment.status === 'running' && deployment.url && <AppAddress url={deployment.url} />}
      {isCancelling && <span class="muted">being cancelled</span>}
      <div class="actions">
        <Actions deployment={deployment} isCancelling={isCancelling} />
      </div>
    </div>
    <StepTimeline deployment={deployment} hasReleaseCommand={environment.releaseCommand !== null} />
    <dl class="facts">
      <Fact name="Commit">
        {deployment.commitHash ? (
          <CommitRef hash={deployment.commitHash} author={deployment.commitAuthor} />
        ) : (
          <span class="muted">{deployment.requestedCommit?.slice(0, 7) ?? 'not known yet'}</span>
        )}
      </Fact>
      <Fact name="Branch">
        <bdi>{deployment.branch ?? project.branch ?? 'the default one'}</bdi>
      </Fact>
      <Fact name="Environment">
        <a href={environmentPath(environment)}>
          <bdi>{environment.name}</bdi>
        </a>
      </Fact>
      <Fact name={triggers[deployment.trigger]}>
        <bdi>{deployment.triggeredBy}</bdi>, <Ago at={deployment.createdAt} />
      </Fact>
      {deployment.imageOf && (
        <Fact name="Image of">
          <a href={deploymentPath({ projectId: project.id, id: deployment.imageOf })}>
            an earlier deployment
          </a>
        </Fact>
      )}
      {deployment.downtimeMs !== null && (
        <Fact name="Switched over">{downtime(deployment.downtimeMs)}</Fact>
      )}
    </dl>
    {!isEnded(deployment.status) && <Refresh deployment={deployment} />}
  </section>
)

/** Morphs, so that a button keeps its focus and a text its selection. */
const Refresh = ({ deployment }: { deployment: Deployment }) => (
  <div
    hidden
    hx-get={`${deploymentPath(deployment)}/status`}
    hx-trigger="status from:#log-stream, done from:#log-stream, every 2s"
    hx-target="#deployment-status"
    hx-swap="outerMorph"
  />
)

const DeploymentError = ({
  deployment: { errorStep, errorCode, errorMessage, errorHint },
}: Pick<Props, 'deployment'>) => (
  <Trouble
    title={errorStep ? `Failed while ${errorStep}` : 'Failed'}
    code={errorCode}
    hint={errorHint}
  >
    <p dir="auto">{errorMessage ?? 'The log below says more.'}</p>
  </Trouble>
)

const Actions = ({ deployment, isCancelling }: Pick<Props, 'deployment' | 'isCancelling'>) => {
  const path = deploymentPath(deployment)
  if (!isEnded(deployment.status))
    return (
      <PostForm action={`${path}/cancel`}>
        <Button variant="destructive" disabled={isCancelling}>
          Cancel
        </Button>
      </PostForm>
    )
  return (
    <>
      {deployment.status !== 'running' && canRollBackTo(deployment) && (
        <PostForm action={`${path}/rollback`}>
          <Button variant="outline">Roll back to this</Button>
        </PostForm>
      )}
      <PostForm action={`/projects/${deployment.projectId}/deployments`}>
        <input type="hidden" name="environment_id" value={deployment.environmentId} />
        {deployment.branch && <input type="hidden" name="branch" value={deployment.branch} />}
        <Button variant={deployment.status === 'failed' ? undefined : 'outline'}>
          Deploy again
        </Button>
      </PostForm>
    </>
  )
}

const triggers: Record<Deployment['trigger'], string> = {
  manual: 'Started by',
  webhook: 'Pushed by',
  rollback: 'Rolled back by',
  api: 'Started by (API)',
}

const downtime = (ms: number) =>
  ms === 0 ? 'without a gap' : `nothing answered for ${duration(ms)}`

type PageProps = Props & {
  extent: { first: number; last: number }
  /** The last lines of its log. */
  lines: Line[]
}

/** One deployment: what became of it, and its log as it is written. */
export const DeploymentPage = ({
  project,
  environment,
  deployment,
  isCancelling,
  extent,
  lines,
}: PageProps) => (
  <>
    <DeploymentStatus {...{ project, environment, deployment, isCancelling }} />
    <LogViewer
      path={logPath(deployment)}
      heading="Log"
      extent={extent}
      lines={lines}
      note={noteOf(deployment, extent.last, lines.length)}
      stream={isEnded(deployment.status) ? null : logPath(deployment)}
      endsWithDone
    />
  </>
)

const logPath = (deployment: Deployment) => `${deploymentPath(deployment)}/logs`

function noteOf({ status }: Deployment, last: number, shown: number) {
  if (last === 0 && isEnded(status))
    return 'No lines: it wrote none, or they are older than logs are kept.'
  return shown < last ? `The last ${shown} of ${last} lines.` : null
}
