import { joinWords } from '../platform/shell-words.ts'
import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import type { EnvironmentHead } from '../environments/head.ts'
import type { Environment } from '../environments/store.ts'
import { Person } from '../web/person.tsx'
import { EmptyState, MoreLink } from '../web/components.tsx'
import type { Draft } from '../web/draft.ts'
import { Button, PostForm } from '../web/form.tsx'
import { RunBadge } from '../web/status-badge.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { Ago } from '../web/times.tsx'
import { runForm } from './start.ts'
import type { Run } from './store.ts'

export const runsPath = (environmentId: string) => `/envs/${environmentId}/runs`
export const runPath = ({ id, environmentId }: Pick<Run, 'id' | 'environmentId'>) =>
  `${runsPath(environmentId)}/${id}`

export const commandLine = ({ command }: Pick<Run, 'command'>) =>
  typeof command === 'string' ? command : joinWords(command)

/** Shortened for a heading or row: a command may have thousands of characters. */
export const shortLine = (run: Pick<Run, 'command'>) => {
  const line = commandLine(run)
  return line.length > maxCommand ? `${line.slice(0, maxCommand)}…` : line
}

const maxCommand = 120

type RunsPageProps = {
  head: EnvironmentHead
  items: Run[]
  nextCursor: string | null
  draft: Draft
  /** Why nothing can be run now; null when it can. */
  refusal: string | null
}

export const RunsPage = ({ head, items, nextCursor, draft, refusal }: RunsPageProps) => (
  <EnvironmentFrame head={head} tab="runs">
    {refusal ? (
      <div class="section-head">
        <p class="muted" role="status">
          {refusal}
        </p>
      </div>
    ) : (
      <RunForm environment={head.environment} draft={draft} />
    )}
    {items.length === 0 ? (
      <EmptyState title="No runs yet">
        <p>
          A run is a one-off command in a new container of the live image: a migration, a task, a
          console.
        </p>
      </EmptyState>
    ) : (
      <ul class="rows" aria-label="Runs">
        {items.map((run) => (
          <RunRow run={run} />
        ))}
      </ul>
    )}
    <MoreLink href={runsPath(head.environment.id)} nextCursor={nextCursor} />
  </EnvironmentFrame>
)

const RunForm = ({ environment, draft }: { environment: Environment; draft: Draft }) => (
  <PostForm action={runsPath(environment.id)} draft={draft} class="form run-form">
    <SchemaFields schema={runForm} />
    <div class="form-actions start">
      <Button>Run command</Button>
    </div>
  </PostForm>
)

const RunRow = ({ run }: { run: Run }) => (
  <li class="row">
    <div class="row-main">
      <h2 class="row-title">
        <a href={runPath(run)}>
          <code>
            <bdi>{shortLine(run)}</bdi>
          </code>
        </a>
      </h2>
      <p class="row-facts">
        <RunBadge status={run.status} />
        {run.exitCode !== null && <span>exit code {run.exitCode}</span>}
        <Person email={run.startedBy} />
        <Ago at={run.createdAt} />
      </p>
    </div>
  </li>
)
