import { deploymentPath } from '../projects/deployment-list.tsx'
import { DeploymentStatus } from './deployment-status.tsx'
import type { Line } from '../logs/log-line.tsx'
import { LogViewer } from '../logs/viewer.tsx'
import { isEnded } from './store.ts'
import type { Project } from '../projects/store.ts'
import type { Environment } from '../environments/store.ts'
import type { Deployment } from './store.ts'

type DeploymentPageProps = {
  project: Project
  environment: Environment
  deployment: Deployment
  isCancelling: boolean
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
}: DeploymentPageProps) => (
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
