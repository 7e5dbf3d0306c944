import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { FoldedFields, namesIn, SchemaFields } from '../web/schema-fields.tsx'
import type { Project } from '../projects/store.ts'
import { environmentForm } from './forms.ts'
import type { EnvironmentField } from './forms.ts'
import { placementText } from './placement.ts'
import { commandLine, processLines } from './process-form.ts'
import type { Server } from '../runtime/placement.ts'
import type { Environment } from './store.ts'

type Props = { project: Project; others: Others; servers: Server[]; draft: Draft }

/** What it can be promoted from. */
type Others = Pick<Environment, 'id' | 'name'>[]

export const EnvironmentModal = ({ project, others, servers, draft }: Props) => {
  const of = { project, others, servers }
  const first = [...namesOf('general'), 'port', 'hostPort'] as EnvironmentField[]
  const more = namesOf('health', 'network', 'watch', 'volumes').filter(
    (name) => !first.includes(name),
  )
  return (
    <ModalForm
      title="New environment"
      from={{ href: `/projects/${project.id}/envs`, name: 'Environments' }}
      action={`/projects/${project.id}/envs`}
      draft={draft}
      submit="Create environment"
      wide
    >
      <EnvironmentFields {...of} names={first} autofocus />
      <FoldedFields
        title="Processes and release command"
        schema={environmentForm}
        {...{ draft, names: namesOf('processes') }}
      >
        <EnvironmentFields {...of} names={namesOf('processes')} />
      </FoldedFields>
      <FoldedFields
        title="Health, limits, domains, watch and volumes"
        schema={environmentForm}
        {...{ draft, names: more }}
      >
        <EnvironmentFields {...of} names={more} />
      </FoldedFields>
    </ModalForm>
  )
}

export const namesOf = (...groups: string[]) =>
  groups.flatMap((group) => namesIn(environmentForm, group) as EnvironmentField[])

type Stored = Environment & { domains: string[] }

/** They don't apply to a project that deploys an image. */
const ofRepositories: EnvironmentField[] = ['branch', 'tags', 'waitForChecks']

/** Nor do these to a preview, whose commits are those of a pull request. */
const ofOthers: EnvironmentField[] = ['branch', 'tags', 'promoteFrom', 'promoteAutomatically']

type FieldsProps = {
  project: Project
  others: Others
  servers: Server[]
  /** Absent for a new one. */
  stored?: Stored
  names: EnvironmentField[]
  isPreview?: boolean
  autofocus?: boolean
}

export const EnvironmentFields = ({
  project,
  others,
  servers,
  stored,
  names,
  isPreview = false,
  autofocus = false,
}: FieldsProps) => (
  <SchemaFields
    schema={environmentForm}
    values={stored ? textsOf(stored, servers) : {}}
    more={{
      ...(stored && takenFromCode(stored)),
      name: stored ? {} : { placeholder: 'staging' },
      branch: project.branch ? { placeholder: project.branch } : {},
      promoteFrom: {
        options: [
          { value: '', label: 'Nothing: it builds' },
          ...others.map(({ id, name }) => ({ value: id, label: name })),
        ],
      },
      autoDeploy: {
        ...(project.image !== null && { label: 'Deploy new images' }),
        options: [
          { value: '', label: `As the project: ${project.autoDeploy ? 'deploy' : 'don’t deploy'}` },
          { value: '1', label: 'Deploy' },
          { value: '0', label: 'Don’t deploy' },
        ],
      },
    }}
    names={names.filter(
      (name) =>
        (project.image === null || !ofRepositories.includes(name)) &&
        !(isPreview && ofOthers.includes(name)) &&
        (name !== 'placement' || servers.length > 1 || !!stored?.placement),
    )}
    autofocus={autofocus}
  />
)

const takenFromCode = ({ codeSettings, ownSettings }: Stored) =>
  Object.fromEntries(
    Object.keys(ownSettings).map((name) => [
      name,
      { disabled: true, hint: `From ${codeSettings!.file} in the repository.` },
    ]),
  )

const textsOf = (
  { processes, releaseCommand, autoDeploy, placement, ...others }: Stored,
  servers: Server[],
) => ({
  ...others,
  placement: placement && placementText(servers, placement),
  processes: processLines(processes),
  releaseCommand: releaseCommand && commandLine(releaseCommand),
  autoDeploy: autoDeploy === null ? '' : Number(autoDeploy),
})
