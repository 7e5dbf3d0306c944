import { snakeCase } from '../web/body.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import type { environmentForm } from './forms.ts'
import { commandLine, processLines } from './process-form.ts'
import { ProcfileLink } from './procfile-note.tsx'
import type { ProcfileOffer } from './procfile.ts'
import type { Project } from '../projects/store.ts'
import type { Environment } from './store.ts'

type Props = {
  project: Project
  environment: Environment | null
  /** What its repository's Procfile would have: then only that is asked, filled in. */
  offer?: ProcfileOffer | null
  draft: Draft
}

/** For a new environment, or to change one. Empty fields fall back to what their placeholder says. */
export const EnvironmentModal = ({ project, environment: stored, offer, draft }: Props) => {
  const environment = stored && { ...stored, ...offer }
  const hasProcesses =
    environment !== null && (environment.releaseCommand !== null || !isDefault(environment))
  const isOpen = (names: Name[]) => names.some((name) => snakeCase(name) in draft.errors)
  const field = (name: Name, more: Partial<Look> = {}) => {
    const value = environment && textOf(environment, name)
    const shown = { name: snakeCase(name), ...looks[name], ...more }
    return long.includes(name) ? (
      <TextArea {...shown} value={value ?? ''} rows={rowsFor(value)} />
    ) : (
      <TextField {...shown} value={value} />
    )
  }
  const processes = (
    <>
      {field('processes')}
      {field('releaseCommand')}
      {field('releaseTimeout')}
    </>
  )
  return (
    <ModalForm
      title={
        offer ? 'Processes from the Procfile' : stored ? `Edit ${stored.name}` : 'New environment'
      }
      {...(stored
        ? { action: `/projects/${project.id}/envs/${stored.id}`, method: 'PUT' }
        : { action: `/projects/${project.id}/envs` })}
      draft={draft}
      submit={offer ? 'Save processes' : stored ? 'Save' : 'Create'}
      wide
    >
      {offer ? (
        <>
          <p class="note">
            Nothing changes until you save. A process without a command runs the image’s own.
          </p>
          {processes}
        </>
      ) : (
        <>
          <div class="field-row">
            {field('name')}
            {field('branch', { placeholder: project.branch ?? 'the project’s' })}
          </div>
          <div class="field-row">
            {field('port')}
            {field('hostPort')}
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
          <details open={hasProcesses || isOpen(processFields)}>
            <summary>Processes and release command</summary>
            <div class="form">
              {stored && <ProcfileLink environment={stored} />}
              {processes}
            </div>
          </details>
          <details open={isOpen(advanced)}>
            <summary>Health, limits, domains and volumes</summary>
            <div class="form">
              <div class="field-row">
                {field('healthPath')}
                {field('healthTimeout')}
              </div>
              <div class="field-row">
                {field('memoryMb')}
                {field('cpus')}
              </div>
              {field('domains')}
              {field('volumes')}
            </div>
          </details>
        </>
      )}
    </ModalForm>
  )
}

type Name = Exclude<keyof typeof environmentForm.shape, 'autoDeploy'>
type Look = Omit<Parameters<typeof TextField>[0], 'name' | 'value'>

const long: Name[] = ['domains', 'volumes', 'processes', 'releaseCommand']
const processFields: Name[] = ['processes', 'releaseCommand', 'releaseTimeout']
const advanced: Name[] = ['healthPath', 'healthTimeout', 'memoryMb', 'cpus', 'domains', 'volumes']

/** Whether it has the one process that every environment begins with. */
const isDefault = ({ processes }: Environment) => processLines(processes) === 'web:'

const rowsFor = (text: Text) => Math.min(8, Math.max(2, String(text ?? '').split('\n').length + 1))

type Text = string | number | null | undefined

/** As the form shows it. */
function textOf(environment: Environment, name: Name) {
  if (name === 'processes') return processLines(environment.processes)
  if (name === 'releaseCommand')
    return environment.releaseCommand && commandLine(environment.releaseCommand)
  const value = environment[name]
  return Array.isArray(value) ? value.join('\n') : value
}

const looks: Record<Name, Look> = {
  name: {
    label: 'Name',
    placeholder: 'staging',
    pattern: '[a-z0-9]([a-z0-9\\-]*[a-z0-9])?',
    maxlength: 40,
    required: true,
    autofocus: true,
    code: true,
  },
  branch: {
    label: 'Branch',
    hint: 'A branch, or a tag. Leave empty to use the project’s.',
    maxlength: 250,
    code: true,
  },
  port: {
    label: 'App port',
    inputmode: 'numeric',
    placeholder: 'what the image exposes',
    hint: 'The app listens on it, as PORT. 0: a worker without a port.',
  },
  hostPort: {
    label: 'Host port',
    inputmode: 'numeric',
    placeholder: 'a free one',
    hint: 'Where this host publishes it.',
  },
  healthPath: {
    label: 'Health path',
    placeholder: '/health',
    hint: 'Empty: it is enough that the port accepts.',
    maxlength: 500,
    code: true,
  },
  healthTimeout: { label: 'Seconds to become healthy', inputmode: 'numeric', placeholder: '60' },
  memoryMb: { label: 'Memory in MB', inputmode: 'numeric', placeholder: '512' },
  cpus: { label: 'Processors', inputmode: 'decimal', placeholder: '1' },
  domains: { label: 'Domains', placeholder: 'app.example.com', hint: 'One per line.', code: true },
  volumes: {
    label: 'Volumes',
    placeholder: 'data:/var/lib/app',
    hint: 'One name:/path per line. What is written there stays between deployments.',
    code: true,
  },
  processes: {
    label: 'Processes',
    placeholder: 'web:\nworker x2 256MB 0.5CPU: npm run worker',
    hint: "One per line: a name, a colon, a command. Without a command it runs the image’s own. Only web has the port. x2 runs two of it; MB and CPU are limits of its own. For && or $NAME: sh -c '…'.",
    code: true,
  },
  releaseCommand: {
    label: 'Release command',
    placeholder: 'npm run migrate',
    hint: 'Runs once with the new image before anything is switched. When it fails, the live version stays.',
    code: true,
  },
  releaseTimeout: {
    label: 'Seconds the release command may take',
    inputmode: 'numeric',
    placeholder: '600',
  },
}

const flagValue = (flag: boolean | null | undefined) => (flag == null ? '' : flag ? '1' : '0')
