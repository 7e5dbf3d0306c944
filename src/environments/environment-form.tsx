import type { Child } from 'hono/jsx'
import { snakeCase } from '../web/body.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { SelectField, TextArea, TextField } from '../web/fields-view.tsx'
import type { environmentForm } from './forms.ts'
import { commandLine, processLines } from './process-form.ts'
import type { Project } from '../projects/store.ts'
import type { Environment } from './store.ts'

type Props = { project: Project; draft: Draft }

/** An empty field uses the default that its placeholder shows. */
export const EnvironmentModal = ({ project, draft }: Props) => {
  const field = fieldsOf(project, null)
  return (
    <ModalForm
      title="New environment"
      from={{ href: `/projects/${project.id}/envs`, name: 'Environments' }}
      action={`/projects/${project.id}/envs`}
      draft={draft}
      submit="Create"
      wide
    >
      <div class="field-row">
        {field('name', { placeholder: 'staging', autofocus: true })}
        {field('branch')}
      </div>
      <div class="field-row">
        {field('port')}
        {field('hostPort')}
      </div>
      <AutoDeploy project={project} environment={null} />
      <Folded title="Processes and release command" {...{ draft, names: processFields }}>
        {processFields.map((name) => field(name))}
      </Folded>
      <Folded title="Health, limits, domains and volumes" {...{ draft, names: advanced }}>
        <div class="field-row">
          {field('healthPath')}
          {field('healthTimeout')}
        </div>
        {field('healthHost')}
        <div class="field-row">
          {field('memoryMb')}
          {field('cpus')}
        </div>
        {field('domains')}
        {field('drainSeconds')}
        {field('volumes')}
      </Folded>
    </ModalForm>
  )
}

/** Open when one of its fields is invalid. */
const Folded = ({
  title,
  names,
  draft,
  children,
}: {
  title: string
  names: Name[]
  draft: Draft
  children: Child
}) => (
  <details open={names.some((name) => snakeCase(name) in draft.errors)}>
    <summary>{title}</summary>
    <div class="form">{children}</div>
  </details>
)

type Stored = Environment & {
  /** The hosts of its domains. */
  domains: string[]
}

/** Renders the fields of an environment with their stored values. */
export const fieldsOf =
  (project: Project, environment: Stored | null) =>
  (name: Name, more: Partial<Look> = {}) => {
    const value = environment && textOf(environment, name)
    const inherited = name === 'branch' && project.branch ? { placeholder: project.branch } : {}
    const shown = { name: snakeCase(name), ...looks[name], ...inherited, ...more }
    return long.includes(name) ? (
      <TextArea {...shown} value={value ?? ''} rows={rowsFor(value)} />
    ) : (
      <TextField {...shown} value={value} />
    )
  }

export const AutoDeploy = ({
  project,
  environment,
}: {
  project: Project
  environment: Environment | null
}) => (
  <SelectField
    name="auto_deploy"
    label="Deploy on push"
    value={flagValue(environment?.autoDeploy)}
    options={[
      {
        value: '',
        label: `As the project: ${project.autoDeploy ? 'deploy' : 'don’t deploy'}`,
      },
      { value: '1', label: 'Deploy' },
      { value: '0', label: 'Don’t deploy' },
    ]}
  />
)

type Name = Exclude<keyof typeof environmentForm.shape, 'autoDeploy'>
type Look = Omit<Parameters<typeof TextField>[0], 'name' | 'value'>

const long: Name[] = ['domains', 'volumes', 'processes', 'releaseCommand']
export const processFields = [
  'processes',
  'releaseCommand',
  'releaseTimeout',
] as const satisfies Name[]
const advanced: Name[] = [
  'healthPath',
  'healthHost',
  'healthTimeout',
  'memoryMb',
  'cpus',
  'domains',
  'drainSeconds',
  'volumes',
]

const rowsFor = (text: Text) => Math.min(8, Math.max(2, String(text ?? '').split('\n').length + 1))

type Text = string | number | null | undefined

/** Formats the value for its field. */
function textOf(environment: Stored, name: Name) {
  if (name === 'processes') return processLines(environment.processes)
  if (name === 'releaseCommand')
    return environment.releaseCommand && commandLine(environment.releaseCommand)
  const value = environment[name]
  return Array.isArray(value) ? value.join('\n') : value
}

const looks: Record<Name, Look> = {
  name: { label: 'Name', required: true, code: true },
  branch: {
    label: 'Branch',
    placeholder: 'the project’s',
    hint: 'A branch, or a tag. Leave empty to use the project’s.',
    code: true,
  },
  port: {
    label: 'App port',
    inputmode: 'numeric',
    placeholder: 'what the image exposes',
    hint: 'The app listens on it (variable PORT; one of yours takes precedence). Enter 0 for a worker without a port.',
  },
  hostPort: {
    label: 'Host port',
    inputmode: 'numeric',
    placeholder: 'a free one',
    hint: 'The port on this server. Leave empty for a free one: with a chosen port, each deployment briefly interrupts visitors.',
  },
  healthPath: {
    label: 'Health path',
    placeholder: '/health',
    hint: 'Leave empty to only check that the port accepts connections.',
    code: true,
  },
  healthHost: {
    label: 'Health host',
    placeholder: 'app.example.com',
    hint: 'The host that the health path is asked for. Leave empty for the first domain, or localhost without one.',
    code: true,
  },
  healthTimeout: { label: 'Health timeout (seconds)', inputmode: 'numeric', placeholder: '60' },
  memoryMb: { label: 'Memory (MB)', inputmode: 'numeric', placeholder: '512' },
  cpus: { label: 'Processors', inputmode: 'decimal', placeholder: '1' },
  domains: {
    label: 'Domains',
    placeholder: 'app.example.com',
    hint: 'One per line. The first one is the app’s address. The Domains tab shows the DNS records they need.',
    code: true,
  },
  drainSeconds: {
    label: 'Drain time (seconds)',
    inputmode: 'numeric',
    placeholder: '30',
    hint: 'How long open requests, WebSockets and downloads may continue when a version is replaced. Only with a domain.',
  },
  volumes: {
    label: 'Volumes',
    placeholder: 'data:/var/lib/app',
    hint: 'One name:/path per line. Files there are kept between deployments. A VOLUME of the image is kept only if it is listed here.',
    code: true,
  },
  processes: {
    label: 'Processes',
    placeholder: 'web:\nworker x2 256MB 0.5CPU 30s: npm run worker',
    hint: "One per line: a name, a colon, a command. Without a command it runs the image’s default command. Only web has the port. x2 runs two replicas; MB and CPU set its own limits; 30s gives it 30 seconds to stop instead of 10; no-init makes it process 1 of its container. For && or $NAME: sh -c '…'.",
    code: true,
  },
  releaseCommand: {
    label: 'Release command',
    placeholder: 'npm run migrate',
    hint: 'Runs once with the new image before the switch. If it fails, the live version stays.',
    code: true,
  },
  releaseTimeout: {
    label: 'Release timeout (seconds)',
    inputmode: 'numeric',
    placeholder: '600',
  },
}

const flagValue = (flag: boolean | null | undefined) => (flag == null ? '' : flag ? '1' : '0')
