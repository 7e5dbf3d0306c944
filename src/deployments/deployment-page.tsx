import type { deployments, environments, projects } from '../db/schema.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { assetPath } from '../web/static.ts'
import { DeploymentStatus } from './deployment-status.tsx'
import { LogLine } from '../web/log-line.tsx'
import { LogToolbar } from '../web/log-toolbar.tsx'
import { isEnded } from './store.ts'

type Deployment = typeof deployments.$inferSelect

/** One deployment: what became of it, and its log as it is written. */
export const DeploymentPage = ({
  project,
  environment,
  deployment,
  isCancelling,
  lastSequence,
  tail,
}: {
  project: typeof projects.$inferSelect
  environment: typeof environments.$inferSelect
  deployment: Deployment
  isCancelling: boolean
  lastSequence: number
  /** The last lines, for a reader without scripts and for the viewer to begin with. */
  tail: LogLine[]
}) => (
  <>
    <DeploymentStatus {...{ project, environment, deployment, isCancelling }} />
    <section class="log" data-log={logPath(deployment)} aria-labelledby="log-heading">
      <h2 id="log-heading">Log</h2>
      <LogToolbar download={`${logPath(deployment)}?download=1`} />
      <div
        class="log-scroller"
        role="log"
        aria-live="off"
        aria-labelledby="log-heading"
        tabindex={0}
      >
        {tail.length < lastSequence && (
          <p class="log-note">
            The last {tail.length} of {lastSequence} lines.
          </p>
        )}
        {lastSequence === 0 && isEnded(deployment.status) && (
          <p class="log-note">No lines: it wrote none, or they are older than logs are kept.</p>
        )}
        <div class="log-lines" data-last={lastSequence}>
          {tail.map((line) => (
            <LogLine line={line} />
          ))}
        </div>
      </div>
      {!isEnded(deployment.status) && (
        <div
          id="log-stream"
          hidden
          hx-sse:connect={`${logPath(deployment)}?after=${lastSequence}`}
          hx-sse:close="done"
          hx-trigger="connect"
          hx-swap="none"
        />
      )}
    </section>
    <script type="module" src={assetPath('log-view.js')} />
  </>
)

const logPath = (deployment: Deployment) => `${deploymentPath(deployment)}/logs`
