import type { environments } from '../db/schema.ts'
import { SelectField, TextField } from '../web/fields-view.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { Project } from './store.ts'

type Props = { project: Pick<Project, 'id' | 'branch'>; environments: Environment[] }
type Environment = Pick<typeof environments.$inferSelect, 'id' | 'name'>

/** Deploys with one press where there is only one environment; the rest is asked for in a panel. */
export const DeployButton = ({ project, environments }: Props) =>
  environments.length > 1 ? (
    <>
      <Button type="button" popovertarget="deploy-panel">
        Deploy…
      </Button>
      <DeployPanel project={project} environments={environments} />
    </>
  ) : (
    <div class="split-button">
      <PostForm action={deployPath(project)}>
        <Button>Deploy</Button>
      </PostForm>
      <Button
        type="button"
        popovertarget="deploy-panel"
        aria-label="Deploy another branch or commit"
      >
        <span aria-hidden="true">▾</span>
      </Button>
      <DeployPanel project={project} environments={environments} />
    </div>
  )

type DeployEnvironmentButtonProps = {
  project: Props['project']
  environment: Environment
  label?: string
}

/** Deploys one environment as it is set up. */
export const DeployEnvironmentButton = ({
  project,
  environment,
  label = 'Deploy',
}: DeployEnvironmentButtonProps) => (
  <PostForm action={deployPath(project)}>
    <input type="hidden" name="environment_id" value={environment.id} />
    <Button variant="outline" small aria-label={`${label} ${environment.name}`}>
      {label}
    </Button>
  </PostForm>
)

const DeployPanel = ({ project, environments }: Props) => (
  <div id="deploy-panel" class="panel" popover="auto">
    <PostForm action={deployPath(project)} class="form">
      {environments.length > 1 && (
        <SelectField
          name="environment_id"
          id="deploy-environment"
          label="Environment"
          options={environments.map(({ id, name }) => ({ value: id, label: name }))}
        />
      )}
      <TextField
        name="branch"
        id="deploy-branch"
        label="Branch or tag"
        placeholder={project.branch ?? 'default'}
        maxlength={250}
        code
      />
      <TextField
        name="commit"
        id="deploy-commit"
        label="Commit"
        placeholder="newest"
        pattern="[0-9a-fA-F]{40}|[0-9a-fA-F]{64}"
        hint="The full hash of 40 or 64 digits."
        code
      />
      <Button>Deploy</Button>
    </PostForm>
  </div>
)

const deployPath = ({ id }: Props['project']) => `/projects/${id}/deployments`
