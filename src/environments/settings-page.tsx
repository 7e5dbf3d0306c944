import type { Child } from 'hono/jsx'
import type { Draft } from '../web/draft.ts'
import { FormError } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm, SaveRow } from '../web/form.tsx'
import { SettingsSection } from '../web/settings-frame.tsx'
import { snakeCase } from '../web/body.ts'
import { docPath } from '../web/components.tsx'
import { fromCode } from './code-settings.ts'
import { EnvironmentFields, namesOf } from './environment-form.tsx'
import { EnvironmentFrame } from './environment-frame.tsx'
import type { Server } from '../runtime/placement.ts'
import type { Environment } from './store.ts'
import type { EnvironmentHead } from './head.ts'
import { ProcfileLink } from './procfile-note.tsx'
import type { ProcfileOffer } from './procfile.ts'
import { environmentPath, settingsPath } from './paths.ts'

type Props = {
  head: EnvironmentHead
  domains: string[]
  others: Pick<Environment, 'id' | 'name'>[]
  servers: Server[]
  /** A project keeps at least one. */
  isLast: boolean
  /** The settings from the repository's Procfile. With these, the form has no others. */
  offer: ProcfileOffer | null
  draft: Draft
}

export const EnvironmentSettings = (props: Props) => (
  <EnvironmentFrame head={props.head} tab="settings">
    {props.offer ? <FromProcfile {...props} /> : <Whole {...props} />}
  </EnvironmentFrame>
)

const sections = [
  {
    id: 'general',
    title: 'General',
    about: 'What is deployed here, and when. Changes take effect with the next deployment.',
  },
  {
    id: 'network',
    title: 'Port and domains',
    about: 'Where the app listens, and where visitors reach it.',
  },
  {
    id: 'processes',
    title: 'Processes',
    about: 'What runs from its image, and what runs once before each switch.',
  },
  {
    id: 'health',
    title: 'Health and limits',
    about: 'When a new version counts as ready, and what each container may use.',
  },
  {
    id: 'watch',
    title: 'Watch',
    about: 'What happens right after the switch to a new version.',
  },
  {
    id: 'volumes',
    title: 'Volumes',
    about: 'What is kept from one version to the next.',
  },
]

const Whole = ({ head, domains, others, servers, isLast, draft }: Props) => {
  const { environment, project } = head
  return (
    <div class="settings">
      {!head.isDeleting && (
        <SettingsOf environment={environment} draft={draft}>
          {sections.map((section, at) => (
            <SettingsSection {...section}>
              <div class="form">
                {at === 0 && <FormError />}
                {at === 0 && <CodeNote environment={environment} />}
                {section.id === 'processes' && <ProcfileLink environment={environment} />}
                <EnvironmentFields
                  {...{ project, others, servers }}
                  stored={{ ...environment, domains }}
                  names={namesOf(section.id)}
                  isPreview={head.preview !== null}
                />
                {section === sections.at(-1) && <SaveRow label="Save settings" />}
              </div>
            </SettingsSection>
          ))}
        </SettingsOf>
      )}
      {!head.isDeleting && servers.length > 1 && (
        <SettingsSection
          id="server"
          title="Server"
          about="It moves with its volumes, and starts again here if it doesn’t respond there."
        >
          <ButtonLink icon="server" variant="outline" opens={`/envs/${environment.id}/move`}>
            Move to another server…
          </ButtonLink>
        </SettingsSection>
      )}
      {!project.deletingAt && <Danger head={head} isLast={isLast} />}
    </div>
  )
}

/** Some of what a file sets has its fields on the project's settings page. */
const CodeNote = ({ environment }: SettingsPageProps) => {
  const code = fromCode(environment)
  if (!code) return null
  const names = new Intl.ListFormat('en').format(code.settings.map(snakeCase))
  return (
    <p class="note">
      <code>{code.file}</code> in the repository sets {names}.{' '}
      <a href={docPath('davit-yaml')}>What it can set</a>
    </p>
  )
}

const FromProcfile = ({ head, domains, others, servers, offer, draft }: Props) => {
  const { environment, project } = head
  return (
    <SettingsOf environment={environment} draft={draft}>
      <SettingsSection
        id="procfile"
        title="Processes from the Procfile"
        about="Nothing changes until you save. A process without a command runs the image’s default command."
      >
        <div class="form">
          <FormError />
          <EnvironmentFields
            {...{ project, others, servers }}
            stored={{ ...environment, domains, ...offer }}
            names={namesOf('processes')}
          />
          <div class="form-actions start">
            <Button>Save processes</Button>
            <ButtonLink variant="outline" href={settingsPath(environment)}>
              Cancel
            </ButtonLink>
          </div>
        </div>
      </SettingsSection>
    </SettingsOf>
  )
}

type SettingsPageProps = Pick<EnvironmentHead, 'environment'>

const SettingsOf = ({
  environment,
  draft,
  children,
}: SettingsPageProps & Pick<Props, 'draft'> & { children: Child }) => (
  <PostForm
    class="settings"
    action={environmentPath(environment)}
    method="PUT"
    draft={draft}
    hx-disable="find button[type=submit]"
  >
    {children}
  </PostForm>
)

/** A failed deletion can be repeated. */
const Danger = ({ head: { environment, preview }, isLast }: Pick<Props, 'head' | 'isLast'>) => (
  <SettingsSection
    id="danger"
    title="Delete environment"
    about={
      preview
        ? 'Its containers, images, history and volumes are deleted, and the services that were created for it. The next push to the pull request creates it again.'
        : 'Its containers, images and history are deleted. Its volumes stay where they are, and its backups on their targets.'
    }
    danger
  >
    {isLast ? (
      <p>
        A project must have at least one environment. Add another one first, or{' '}
        <a href={`/projects/${environment.projectId}/settings#danger-heading`}>
          delete the project
        </a>
        .
      </p>
    ) : (
      <PostForm
        action={environmentPath(environment)}
        method="DELETE"
        hx-target="#modal"
        question={{
          text: preview
            ? `Delete the preview ${environment.name}, with its volumes and fresh services?`
            : `Delete the environment ${environment.name}? Its containers and its backup plan are removed; its volumes and backups stay.`,
          answer: 'Delete environment',
        }}
      >
        <Button variant="destructive">Delete…</Button>
      </PostForm>
    )}
  </SettingsSection>
)
