import type { environments, projects } from '../db/schema.ts'
import { ModalActions } from '../web/dialog.tsx'
import { FormError, SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'

type Project = typeof projects.$inferSelect
type Environment = typeof environments.$inferSelect
type Props = { project: Project; environment: Environment | null; draft: Draft }

/** Empty fields fall back to what their placeholder says. */
export const EnvironmentForm = ({ project, environment, draft }: Props) => (
  <PostForm
    class="form"
    {...(environment
      ? { action: `/projects/${project.id}/envs/${environment.id}`, method: 'PUT' }
      : { action: `/projects/${project.id}/envs` })}
    live
    hx-target="#modal"
    hx-disable="find button[type=submit]"
  >
    <FormError draft={draft} />
    <div class="field-row">
      <TextField
        name="name"
        label="Name"
        draft={draft}
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
        draft={draft}
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
        draft={draft}
        value={environment?.port}
        inputmode="numeric"
        placeholder="what the image exposes"
        hint="The app listens on it, as PORT. 0: a worker without a port."
      />
      <TextField
        name="host_port"
        label="Host port"
        draft={draft}
        value={environment?.hostPort}
        inputmode="numeric"
        placeholder="a free one"
        hint="Where this host publishes it."
      />
    </div>
    <SelectField
      name="auto_deploy"
      label="When its branch is pushed"
      draft={draft}
      value={flagValue(environment?.autoDeploy)}
      options={[
        { value: '', label: `As the project: ${project.autoDeploy ? 'deploy' : 'wait'}` },
        { value: '1', label: 'Deploy' },
        { value: '0', label: 'Wait for a person' },
      ]}
    />
    <details open={advanced.some((name) => name in draft.errors)}>
      <summary>Health, limits, domains and volumes</summary>
      <AdvancedFields environment={environment} draft={draft} />
    </details>
    <ModalActions>
      <button type="submit" class="btn">
        {environment ? 'Save' : 'Create'}
      </button>
    </ModalActions>
  </PostForm>
)

const advanced = ['health_path', 'health_timeout', 'memory_mb', 'cpus', 'domains', 'volumes']

const AdvancedFields = ({ environment, draft }: Omit<Props, 'project'>) => (
  <div class="form">
    <div class="field-row">
      <TextField
        name="health_path"
        label="Health path"
        draft={draft}
        value={environment?.healthPath}
        placeholder="/health"
        hint="Empty: it is enough that the port accepts."
        maxlength={500}
        code
      />
      <TextField
        name="health_timeout"
        label="Seconds to become healthy"
        draft={draft}
        value={environment?.healthTimeout}
        inputmode="numeric"
        placeholder="60"
      />
    </div>
    <div class="field-row">
      <TextField
        name="memory_mb"
        label="Memory in MB"
        draft={draft}
        value={environment?.memoryMb}
        inputmode="numeric"
        placeholder="512"
      />
      <TextField
        name="cpus"
        label="Processors"
        draft={draft}
        value={environment?.cpus}
        inputmode="decimal"
        placeholder="1"
      />
    </div>
    <TextArea
      name="domains"
      label="Domains"
      draft={draft}
      value={environment?.domains.join('\n')}
      placeholder="app.example.com"
      hint="One a line."
      rows={2}
      code
    />
    <TextArea
      name="volumes"
      label="Volumes"
      draft={draft}
      value={environment?.volumes.join('\n')}
      placeholder="data:/var/lib/app"
      hint="One name:/path a line. What is written there stays between deployments."
      rows={2}
      code
    />
  </div>
)

const flagValue = (flag: boolean | null | undefined) => (flag == null ? '' : flag ? '1' : '0')
