import { TerminalView } from '../containers/terminal/page.tsx'
import { environmentPath } from '../environments/paths.ts'
import type { Environment } from '../environments/store.ts'
import { JobLog } from '../logs/job-log.tsx'
import type { LastLines } from '../logs/read-log.ts'
import type { Project } from '../projects/store.ts'
import { Person } from '../web/person.tsx'
import { Fact, PageHead, Trouble } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { RunBadge, statusInWords } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { duration } from '../web/units.ts'
import { commandLine, runPath, runsPath, shortLine } from './runs-page.tsx'
import { isEnded } from './store.ts'
import type { Run } from './store.ts'

type Props = {
  project: Project
  environment: Environment
  run: Run
  /** True once someone cancelled it. */
  isCancelling: boolean
}

export const RunPage = ({ log, ...of }: Props & { log: LastLines }) => {
  const { run } = of
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
          The command keeps running when you leave this page. Cancel the run to end it.
        </TerminalView>
      ) : (
        <JobLog log={log} page={runPath(run)} isOver={hasEnded} fills />
      )}
    </>
  )
}

const RunStatusSection = ({ project, environment, run, isCancelling }: Props) => (
  <Live
    as="section"
    id="run-status"
    class="deployment-status"
    aria-label="Status"
    data-announce={`The run is ${statusInWords(run.status)}.`}
  >
    <PageHead
      title={shortLine(run)}
      doc="deployments#one-off-commands"
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
        <Person email={run.startedBy} />, <Ago at={run.createdAt} />
      </Fact>
      {run.finishedAt ? (
        <Fact name="Took">{duration(run.finishedAt.getTime() - run.createdAt.getTime())}</Fact>
      ) : (
        <Fact name="Timeout">{duration(run.timeout * 1000)}</Fact>
      )}
    </dl>
  </Live>
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
