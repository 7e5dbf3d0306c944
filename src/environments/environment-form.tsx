import type { Child } from 'hono/jsx'
import { snakeCase } from '../web/body.ts'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { looksOf, SchemaFields } from '../web/schema-fields.tsx'
import type { Project } from '../projects/store.ts'
import { environmentForm } from './forms.ts'
import type { EnvironmentField } from './forms.ts'
import { commandLine, processLines } from './process-form.ts'
import type { Environment } from './store.ts'

type Props = { project: Project; draft: Draft }

export const EnvironmentModal = ({ project, draft }: Props) => {
  const first: EnvironmentField[] = ['name', 'branch', 'port', 'hostPort', 'autoDeploy']
  const more = namesOf('health', 'network', 'volumes').filter((name) => !first.includes(name))
  return (
    <ModalForm
      title="New environment"
      from={{ href: `/projects/${project.id}/envs`, name: 'Environments' }}
      action={`/projects/${project.id}/envs`}
      draft={draft}
      submit="Create"
      wide
    >
      <EnvironmentFields {...{ project, names: first }} autofocus />
      <Folded title="Processes and release command" {...{ draft, names: namesOf('processes') }}>
        <EnvironmentFields {...{ project, names: namesOf('processes') }} />
      </Folded>
      <Folded title="Health, limits, domains and volumes" {...{ draft, names: more }}>
        <EnvironmentFields {...{ project, names: more }} />
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
  names: string[]
  draft: Draft
  children: Child
}) => (
  <details open={names.some((name) => snakeCase(name) in draft.errors)}>
    <summary>{title}</summary>
    <div class="form">{children}</div>
  </details>
)

/** The fields of the groups. */
export const namesOf = (...groups: string[]) =>
  groups.flatMap((group) =>
    looksOf(environmentForm).flatMap(([name, look]) =>
      look.group === group ? [name as EnvironmentField] : [],
    ),
  )

type Stored = Pick<Environment, EnvironmentField & keyof Environment> & {
  /** The hosts of its domains. */
  domains: string[]
}

type FieldsProps = {
  project: Project
  /** Absent for a new one. */
  stored?: Stored
  names: EnvironmentField[]
  autofocus?: boolean
}

export const EnvironmentFields = ({ project, stored, names, autofocus = false }: FieldsProps) => (
  <SchemaFields
    schema={environmentForm}
    values={stored ? textsOf(stored) : {}}
    more={{
      name: stored ? {} : { placeholder: 'staging' },
      branch: project.branch ? { placeholder: project.branch } : {},
      autoDeploy: {
        options: [
          { value: '', label: `As the project: ${project.autoDeploy ? 'deploy' : 'don’t deploy'}` },
          { value: '1', label: 'Deploy' },
          { value: '0', label: 'Don’t deploy' },
        ],
      },
    }}
    {...{ names, autofocus }}
  />
)

const textsOf = ({ processes, releaseCommand, autoDeploy, ...others }: Stored) => ({
  ...others,
  processes: processLines(processes),
  releaseCommand: releaseCommand && commandLine(releaseCommand),
  autoDeploy: autoDeploy === null ? '' : Number(autoDeploy),
})
