import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { EmptyState, PageHead } from '../web/components.tsx'
import { LockIcon } from '../web/icons.tsx'
import { DeleteButton, DialogButton } from '../web/row-actions.tsx'
import { PasteDotenv } from './variable-forms.tsx'
import type { Variable } from './variable-store.ts'
import { Button } from '../web/form.tsx'
import type { Project } from '../projects/store.ts'
import type { Environment } from './store.ts'

type VariablesPageProps = { project: Project; environment: Environment; variables: Variable[] }

/** The variables of one environment. A secret's value is never here to be shown. */
export const VariablesPage = ({ project, environment, variables }: VariablesPageProps) => (
  <>
    <PageHead
      title="Variables"
      crumbs={[
        { href: '/projects', name: 'Projects' },
        { href: `/projects/${project.id}`, name: project.name },
        { href: `/projects/${project.id}/envs`, name: environment.name },
      ]}
    >
      <Button opens={`/envs/${environment.id}/variables/new`}>New variable</Button>
    </PageHead>
    <div class="section-head">
      <p class="muted">Changes take effect at the next deployment.</p>
      <DeployEnvironmentButton project={project} environment={environment} label="Deploy now" />
    </div>
    {variables.length === 0 ? (
      <EmptyState title="No variables yet">
        <p>The app gets them as its environment. PORT is set by Davit.</p>
      </EmptyState>
    ) : (
      <ul class="rows">
        {variables.map((variable) => (
          <VariableRow variable={variable} />
        ))}
      </ul>
    )}
    <PasteDotenv environment={environment} />
  </>
)

const VariableRow = ({ variable }: { variable: Variable }) => (
  <li class="row variable-row">
    <code class="row-title">{variable.key}</code>
    <div class="row-main">
      {variable.secret ? (
        <span class="secret">
          <LockIcon />
          <span aria-hidden="true">••••••••</span>
          <span class="visually-hidden">secret</span>
        </span>
      ) : (
        <code class="value" dir="auto">
          {variable.value}
        </code>
      )}
      {variable.buildTime && <span class="tag">build time</span>}
    </div>
    <div class="row-actions">
      <DialogButton path={variablePath(variable)} label={`Edit ${variable.key}`}>
        Edit
      </DialogButton>
      <DeleteButton
        path={variablePath(variable)}
        label={`Delete ${variable.key}`}
        question={{ text: `Delete the variable ${variable.key}?`, answer: 'Delete variable' }}
      >
        Delete
      </DeleteButton>
    </div>
  </li>
)

const variablePath = ({ id, environmentId }: Pick<Variable, 'id' | 'environmentId'>) =>
  `/envs/${environmentId}/variables/${id}`
