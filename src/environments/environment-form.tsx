import type { environments, projects } from '../db/schema.ts'
import { ModalForm } from '../web/dialog.tsx'
import { SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'

type Project = typeof projects.$inferSelect
type Environment = typeof environments.$inferSelect
type Props = { project: Project; environment: Environment | null; draft: Draft }

/** For a new environment, or to change one. Empty fields fall back to what their placeholder says. */
export const EnvironmentModal = ({ project, environment, draft }: Props) => (
  <ModalForm
    title={environment ? `Edit ${environment.name}` : 'New environment'}
    {...(environment
      ? { action: `/projects/${project.id}/envs/${environment.id}`, method: 'PUT' }
      : { action: `/projects/${project.id}/envs` })}
    draft={draft}
    submit={environment ? 'Save' : 'Create'}
    wide
  >
    <div class="field-row">
      <TextField
        name="name"
        label="Name"
        value={environment?.name}
        placeholder="staging"
        pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
        maxlength={40}
        required
        autofocus
        code
      />
      <TextField
        name="branch"
        label="Branch"
        value={environment?.branch}
        placeholder={project.branch ?? 'the project’s'}
        hint="A branch, or a tag. Leave empty to use the project’s."
        maxlength={250}
        code
      />
    </div>
    <div class="field-row">
      <TextField
        name="port"
        label="App port"
        value={environment?.port}
        inputmode="numeric"
        placeholder="what the image exposes"
        hint="The app listens on it, as PORT. 0: a worker without a port."
      />
      <TextField
        name="host_port"
        label="Host port"
        value={environment?.hostPort}
        inputmode="numeric"
        placeholder="a free one"
        hint="Where this host publishes it."
      />
    </div>
    <SelectField
      name="auto_deploy"
      label="When its branch is pushed"
      value={flagValue(environment?.autoDeploy)}
      options={[
        { value: '', label: `As the project: ${project.autoDeploy ? 'deploy' : 'wait'}` },
        { value: '1', label: 'Deploy' },
        { value: '0', label: 'Wait for a person' },
      ]}
    />
    <details open={advanced.some((name) => name in draft.errors)}>
      <summary>Health, limits, domains and volumes</summary>
      <AdvancedFields environment={environment} />
    </details>
  </ModalForm>
)

const advanced = ['health_path', 'health_timeout', 'memory_mb', 'cpus', 'domains', 'volumes']

const AdvancedFields = ({ environment }: Pick<Props, 'environment'>) => (
  <div class="form">
    <div class="field-row">
      <TextField
        name="health_path"
        label="Health path"
        value={environment?.healthPath}
        placeholder="/health"
        hint="Empty: it is enough that the port accepts."
        maxlength={500}
        code
      />
      <TextField
        name="health_timeout"
        label="Seconds to become healthy"
        value={environment?.healthTimeout}
        inputmode="numeric"
        placeholder="60"
      />
    </div>
    <div class="field-row">
      <TextField
        name="memory_mb"
        label="Memory in MB"
        value={environment?.memoryMb}
        inputmode="numeric"
        placeholder="512"
      />
      <TextField
        name="cpus"
        label="Processors"
        value={environment?.cpus}
        inputmode="decimal"
        placeholder="1"
      />
    </div>
    <TextArea
      name="domains"
      label="Domains"
      value={environment?.domains.join('\n')}
      placeholder="app.example.com"
      hint="One a line."
      rows={2}
      code
    />
    <TextArea
      name="volumes"
      label="Volumes"
      value={environment?.volumes.join('\n')}
      placeholder="data:/var/lib/app"
      hint="One name:/path a line. What is written there stays between deployments."
      rows={2}
      code
    />
  </div>
)

const flagValue = (flag: boolean | null | undefined) => (flag == null ? '' : flag ? '1' : '0')
