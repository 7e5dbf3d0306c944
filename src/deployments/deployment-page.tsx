import { raw } from 'hono/html'
import { environmentPath, promotePath } from '../environments/paths.ts'
import { deploymentPath, deploymentTitle } from '../projects/deployment-list.tsx'
import { AppAddress, PageHead, Trouble } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { lookOfStatus, StatusBadge } from '../web/status-badge.tsx'
import { Facts, WaitingNote } from './deployment-facts.tsx'
import { comparePath } from './compare-page.tsx'
import { ActionsMenu, againOf, isSameSource, VersionFields } from './row-menu.tsx'
import { whyNoPromotion } from './promote.ts'
import { rollbackPath } from './rollback-dialog.tsx'
import { canRollBackTo, isLive } from './rollback.ts'
import type { Line } from '../logs/log-line.tsx'
import { LogViewer } from '../logs/viewer.tsx'
import { ansiHtml } from '../web/ansi.ts'
import { GroupedLines } from './log-view.tsx'
import type { LogView } from './log-view.tsx'
import { nextAction } from './next-action.ts'
import { StepTimeline } from './step-timeline.tsx'
import { isEnded } from './store.ts'
import { tracePath } from './trace-page.tsx'
import type { Project } from '../projects/store.ts'
import type { Environment } from '../environments/store.ts'
import type { Origin } from './overview-store.ts'
import type { Deployment } from './store.ts'
import { WatchPanel } from './watch/panel.tsx'
import type { WatchView } from './watch/view.ts'

type Props = {
  project: Project
  environment: Environment
  deployment: Deployment
  /** The app's current address. */
  url: string | null
  /** True once a cancellation was requested. */
  isCancelling: boolean
  /** Whose image it runs; null for its own, or if that was deleted. */
  origin: Origin | null
  /** The percentage of the requests that it still gets beside a version that has a share of them. */
  rest: number | undefined
  /** Environments that get their versions from its own. */
  promotedTo: Environment[]
  watch: WatchView | null
  /** The lines of its log that show why it failed. */
  quote: Line[]
}

export const DeploymentStatus = ({
  project,
  environment,
  deployment,
  url,
  isCancelling,
  origin,
  rest,
  promotedTo,
  watch,
  quote,
}: Props) => (
  <Live
    as="section"
    id="deployment-status"
    class="deployment-status"
    aria-label="Status"
    data-announce={`The deployment is ${lookOfStatus(deployment.status, rest).word.toLowerCase()}.`}
  >
    <PageHead
      title={deploymentTitle(deployment, { project, environment }).replace(' ·', '\u00a0·')} // begins no line
      doc="deployments#states"
      crumbs={[
        { href: '/projects', name: 'Projects' },
        { href: `/projects/${project.id}`, name: project.name },
        { href: environmentPath(environment), name: environment.name },
      ]}
      beside={
        <div class="status-line">
          <StatusBadge status={deployment.status} rest={rest} />
          {deployment.status === 'running' && url && <AppAddress url={url} />}
          {isCancelling && <span class="muted">being cancelled</span>}
        </div>
      }
    >
      <Actions
        {...{ deployment, project, isCancelling, promotedTo }}
        isRetried={hasFailed(deployment) && !nextAction(deployment, { project, environment })}
      />
    </PageHead>
    {hasFailed(deployment) && <DeploymentError {...{ project, environment, deployment, quote }} />}
    {deployment.status === 'waiting' && <WaitingNote {...{ deployment, project }} />}
    {watch && <WatchPanel view={watch} path={deploymentPath(deployment)} />}
    <div class="progress-line">
      <StepTimeline
        deployment={deployment}
        hasReleaseCommand={
          (deployment.codeSettings?.settings ?? environment).releaseCommand != null
        }
      />
      <Facts {...{ deployment, project, origin }} />
    </div>
  </Live>
)

const DeploymentError = ({
  deployment,
  quote,
  ...of
}: Pick<Props, 'deployment' | 'quote' | 'project' | 'environment'>) => {
  const { errorStep, errorCode, errorMessage, errorHint } = deployment
  const next = nextAction(deployment, of)
  return (
    <Trouble
      title={errorStep ? `Failed while ${errorStep}` : 'Failed'}
      code={errorCode}
      hint={errorHint}
      more={quote.length > quoted.lines && <Quote lines={quote.slice(quoted.lines)} />}
      isFolded
      action={
        next ? (
          <ButtonLink href={next.href}>{next.name}</ButtonLink>
        ) : (
          <DeployAgain deployment={deployment} project={of.project} />
        )
      }
    >
      <p dir="auto">{errorMessage ?? 'The log below says more.'}</p>
      {quote.length > 0 && <Quote lines={quote.slice(0, quoted.lines)} />}
    </Trouble>
  )
}

/** Each line links to its place in the log. */
const Quote = ({ lines }: { lines: Line[] }) => (
  <ul class="log quote" aria-label="From the log">
    {lines.map(({ sequence, text }) => (
      <li class="line">
        <a href={`#L${sequence}`}>{raw(ansiHtml(withoutStep(text).slice(0, quoted.characters)))}</a>
      </li>
    ))}
  </ul>
)

/** `lines` are shown at once, the rest is folded. `characters` are per line. */
const quoted = { lines: 2, characters: 300 }

const hasFailed = ({ status, errorCode }: Deployment) =>
  status === 'failed' || (status === 'stopped' && errorCode !== null)

/** Removes BuildKit's step number. */
const withoutStep = (text: string) => text.replace(/^#\d+ /, '')

const DeployAgain = ({
  deployment,
  project,
  variant,
  isWithoutCache = false,
}: Pick<Props, 'deployment' | 'project'> & {
  variant?: 'outline' | 'ghost'
  isWithoutCache?: boolean
}) =>
  deployment.upload ? null : ( // its files were removed
    <PostForm action={`/projects/${project.id}/deployments`}>
      <input type="hidden" name="environment_id" value={deployment.environmentId} />
      <VersionFields {...{ deployment, project }} />
      {isWithoutCache && <input type="hidden" name="no_cache" value="1" />}
      <Button variant={variant} small={isWithoutCache}>
        {isWithoutCache ? 'Deploy without cache' : againOf(isSameSource(deployment, project))}
      </Button>
    </PostForm>
  )

const Actions = ({
  deployment,
  project,
  isCancelling,
  promotedTo,
  isRetried,
}: Pick<Props, 'deployment' | 'project' | 'isCancelling' | 'promotedTo'> & {
  /** True when another part of the page already offers to deploy again. */
  isRetried: boolean
}) => {
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
      {deployment.status === 'stopped' && (
        <PostForm action={`/envs/${deployment.environmentId}/start`}>
          <Button>Start</Button>
        </PostForm>
      )}
      {whyNoPromotion(deployment) === null &&
        promotedTo.map((target) => (
          <ButtonLink opens={`${promotePath(target)}?deployment_id=${deployment.id}`}>
            {`Promote to ${target.name}…`}
          </ButtonLink>
        ))}
      {!isLive(deployment) && canRollBackTo(deployment) && (
        <ButtonLink variant="outline" opens={rollbackPath(deployment)}>
          Roll back to this…
        </ButtonLink>
      )}
      {!isRetried && <DeployAgain {...{ deployment, project }} variant="outline" />}
      <ActionsMenu number={deployment.number}>
        <ButtonLink variant="ghost" small href={tracePath(deployment)}>
          Where the time went
        </ButtonLink>
        {!isLive(deployment) && (
          <ButtonLink variant="ghost" small href={comparePath(deployment)}>
            Compare with live
          </ButtonLink>
        )}
        {project.image === null && (
          <DeployAgain {...{ deployment, project }} variant="ghost" isWithoutCache />
        )}
      </ActionsMenu>
    </>
  )
}

type PageProps = Omit<Props, 'quote'> & { log: LogView }

export const DeploymentPage = ({ log, ...of }: PageProps) => (
  <>
    <DeploymentStatus {...of} quote={log.quote} />
    <LogViewer
      fills
      path={logPath(of.deployment)}
      page={deploymentPath(of.deployment)}
      chosen={log.chosen}
      heading="Log"
      extent={log.extent}
      lines={log.lines}
      previous={log.previous}
      rows={log.chosen.level ? null : <GroupedLines {...log} />}
      firstError={log.firstError}
      note={<Note deployment={of.deployment} {...log} />}
      stream={isEnded(of.deployment.status) ? null : logPath(of.deployment)}
      endsWithDone
    />
  </>
)

const logPath = (deployment: Deployment) => `${deploymentPath(deployment)}/logs`

/** Explains, for readers without scripts, how much of the log the page has. */
const Note = ({
  deployment,
  extent: { first, last },
  lines,
}: Pick<LogView, 'extent' | 'lines'> & { deployment: Deployment }) => {
  if (last === 0)
    return isEnded(deployment.status)
      ? 'No log lines. It wrote none, or they have been deleted.'
      : null
  const from = lines[0]?.sequence ?? last
  if (from <= first) return null
  return (
    <>
      Lines {from} to {lines.at(-1)?.sequence} of {last}.{' '}
      <a href={`?before=${from}`}>Earlier lines</a>
    </>
  )
}
