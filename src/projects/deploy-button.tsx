import type { environments } from '../db/schema.ts'
import { SelectField, TextField } from '../web/fields-view.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { Icon } from '../web/icons.tsx'
import type { Project } from './store.ts'

type Props = { project: Pick<Project, 'id' | 'branch' | 'image'>; environments: Environment[] }
type Environment = Pick<typeof environments.$inferSelect, 'id' | 'name'>

/** One click if there is only one environment; otherwise a panel asks for it. */
export const DeployButton = ({ project, environments }: Props) =>
  environments.length > 1 ? (
    <>
      <Button icon="rocket" type="button" popovertarget="deploy-panel">
        Deploy…
      </Button>
      <DeployPanel project={project} environments={environments} />
    </>
  ) : (
    <div class="split-button">
      <PostForm action={deployPath(project)}>
        <input type="hidden" name="environment_id" value={environments[0]?.id} />
        <Button icon="rocket">Deploy</Button>
      </PostForm>
      <Button
        type="button"
        popovertarget="deploy-panel"
        aria-label={`Deploy another ${project.image === null ? 'branch or commit' : 'version'}`}
      >
        <Icon name="chevron-down" />
      </Button>
      <DeployPanel project={project} environments={environments} />
    </div>
  )

type DeployEnvironmentButtonProps = {
  project: Pick<Project, 'id'>
  environment: Environment
  /** A small button by default, for a row. */
  look?: Pick<Parameters<typeof Button>[0], 'variant' | 'small' | 'icon'>
}

export const DeployEnvironmentButton = ({
  project,
  environment,
  look = { variant: 'outline', small: true },
}: DeployEnvironmentButtonProps) => (
  <PostForm action={deployPath(project)}>
    <input type="hidden" name="environment_id" value={environment.id} />
    <Button {...look} aria-label={`Deploy ${environment.name}`}>
      Deploy
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
      {project.image === null ? (
        <Versions project={project} />
      ) : (
        <ImageField image={project.image} />
      )}
      <Button>Deploy</Button>
    </PostForm>
  </div>
)

const ImageField = ({ image }: { image: string }) => (
  <TextField
    name="image"
    id="deploy-image"
    label="Image"
    placeholder={image}
    hint="Another tag or digest, for this deployment."
    code
  />
)

const Versions = ({ project }: Pick<Props, 'project'>) => (
  <>
    <TextField
      name="branch"
      id="deploy-branch"
      label="Branch or tag"
      placeholder={project.branch ?? 'default'}
      code
    />
    <TextField
      name="commit"
      id="deploy-commit"
      label="Commit"
      placeholder="newest"
      hint="The full hash of 40 or 64 digits."
      code
    />
  </>
)

const deployPath = ({ id }: Pick<Project, 'id'>) => `/projects/${id}/deployments`
