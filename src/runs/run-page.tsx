import { TerminalView } from '../containers/terminal/page.tsx'
import { environmentPath } from '../environments/views.tsx'
import type { Environment } from '../environments/store.ts'
import type { Line } from '../logs/log-line.tsx'
import { LogViewer } from '../logs/viewer.tsx'
import type { Project } from '../projects/store.ts'
import { Fact, PageHead, Trouble } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { RunBadge } from '../web/status-badge.tsx'
import { Ago, duration } from '../web/times.tsx'
import { commandLine, runPath, runsPath, shortLine } from './runs-page.tsx'
import { isEnded } from './store.ts'
import type { Run } from './store.ts'

type Props = {
  project: Project
  environment: Environment
  run: Run
  /** Whether its end has been asked for. */
  isCancelling: boolean
}

type PageProps = Props & {
  extent: { first: number; last: number }
  /** The last lines of its log. */
  lines: Line[]
}

/** One run: a terminal while it has one, else its log as it is written. */
export const RunPage = ({ extent, lines, ...of }: PageProps) => {
  const { run } = of
  const path = `${runPath(run)}/logs`
  const hasEnded = isEnded(run.status)
  return (
    <>
      <RunStatusSection {...of} />
      {run.attach && !hasEnded ? (
        <TerminalView
          path={`${runPath(run)}/attach`}
          starting="Waiting for the container…"
          again="Attach again"
          once
        >
          The command runs on when you leave this page; cancel it to end it.
        </TerminalView>
      ) : (
        <LogViewer
          path={path}
          heading="Log"
          extent={extent}
          lines={lines}
          note={
            lines.length < extent.last ? `The last ${lines.length} of ${extent.last} lines.` : null
          }
          stream={hasEnded ? null : path}
          endsWithDone
        />
      )}
    </>
  )
}

/** What a run has come to, and what can be done about it. While it runs it asks for itself again. */
export const RunStatusSection = ({ project, environment, run, isCancelling }: Props) => (
  <section
    id="run-status"
    class="deployment-status"
    aria-label="Status"
    data-announce={`The run is ${run.status}.`}
  >
    <PageHead
      title={shortLine(run)}
      crumbs={[
        { href: '/projects', name: 'Projects' },
        { href: `/projects/${project.id}`, name: project.name },
        { href: environmentPath(environment), name: environment.name },
        { href: runsPath(environment.id), name: 'Runs' },
      ]}
    />
    {run.errorCode && (
      <Trouble title="Failed" code={run.errorCode} hint={run.errorHint}>
        <p dir="auto">{run.errorMessage}</p>
      </Trouble>
    )}
    <div class="status-line">
      <RunBadge status={run.status} />
      {run.exitCode !== null && <span class="muted">exit code {run.exitCode}</span>}
      {isCancelling && !isEnded(run.status) && <span class="muted">being cancelled</span>}
      <div class="actions">
        <Actions run={run} isCancelling={isCancelling} />
      </div>
    </div>
    <dl class="facts">
      <Fact name="Environment">
        <bdi>{environment.name}</bdi>
      </Fact>
      <Fact name="Image of">
        <a href={`/projects/${project.id}/deployments/${run.deploymentId}`}>a deployment</a>
      </Fact>
      <Fact name="Started by">
        <bdi>{run.startedBy}</bdi>, <Ago at={run.createdAt} />
      </Fact>
      {run.finishedAt ? (
        <Fact name="Took">{duration(run.finishedAt.getTime() - run.createdAt.getTime())}</Fact>
      ) : (
        <Fact name="Timeout">{duration(run.timeout * 1000)}</Fact>
      )}
    </dl>
    {!isEnded(run.status) && (
      <div
        hidden
        hx-get={`${runPath(run)}/status`}
        hx-trigger="status from:#log-stream, done from:#log-stream, every 2s"
        hx-target="#run-status"
        hx-swap="outerMorph"
      />
    )}
  </section>
)

const Actions = ({ run, isCancelling }: Pick<Props, 'run' | 'isCancelling'>) => {
  if (!isEnded(run.status))
    return (
      <PostForm action={`${runPath(run)}/cancel`}>
        <Button variant="destructive" disabled={isCancelling}>
          Cancel run
        </Button>
      </PostForm>
    )
  return (
    <>
      {run.attach && (
        <ButtonLink variant="outline" href={runPath(run)}>
          Show log
        </ButtonLink>
      )}
      <PostForm action={runsPath(run.environmentId)}>
        <input type="hidden" name="command" value={commandLine(run)} />
        <input type="hidden" name="timeout" value={run.timeout} />
        <input type="hidden" name="attach" value={run.attach ? '1' : '0'} />
        <Button variant="outline">Run again</Button>
      </PostForm>
    </>
  )
}
