import { environmentPath } from '../environments/paths.ts'
import { PullRequestLink, waitsForApproval } from '../environments/preview-note.tsx'
import type { Preview } from '../environments/preview-store.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import type { Project } from '../projects/store.ts'
import { EmptyState } from '../web/components.tsx'
import type { Draft } from '../web/draft.ts'
import { Live } from '../web/live.tsx'
import { SchemaFields } from '../web/schema-fields.tsx'
import { SettingsForm, SettingsSection } from '../web/settings-frame.tsx'
import { In } from '../web/times.tsx'
import { previewForm, previewSettings } from './settings.ts'

type FormProps = { project: Project; draft: Draft }

type Props = FormProps & {
  environments: { id: string; name: string }[]
  previews: Preview[]
}

export const PreviewsPage = ({ project, draft, environments, previews }: Props) => (
  <ProjectFrame project={project} tab="previews" environments={environments}>
    {project.image !== null ? (
      <EmptyState title="No pull requests">
        <p>This project deploys an image. Previews are of the pull requests of a repository.</p>
      </EmptyState>
    ) : (
      <div class="settings">
        <SettingsSection
          id="previews"
          title="Previews"
          about="Environments of open pull requests. Each is deleted when its pull request is closed or merged."
        >
          <Live id="preview-list">
            <PreviewList {...{ project, environments, previews }} />
          </Live>
        </SettingsSection>
        <SettingsOfPreviews {...{ project, draft }} />
      </div>
    )}
  </ProjectFrame>
)

const PreviewList = ({ project, environments, previews }: Omit<Props, 'draft'>) => {
  const { enabled } = previewSettings(project)
  if (previews.length === 0)
    return (
      <EmptyState title="No previews">
        <p>
          {enabled
            ? 'The next pull request that is opened or pushed to gets one.'
            : 'Turn them on, and each pull request is deployed into an environment of its own.'}
        </p>
      </EmptyState>
    )
  const names = new Map(environments.map(({ id, name }) => [id, name]))
  return (
    <ul class="rows">
      {previews.map((preview) => (
        <li class="row">
          <div class="row-main">
            <h2 class="row-title">
              <PullRequestLink {...preview} />
            </h2>
            <p class="row-facts">
              <a href={environmentPath({ id: preview.environmentId, projectId: project.id })}>
                <bdi>{names.get(preview.environmentId) ?? 'being deleted'}</bdi>
              </a>
              <span>
                deleted <In at={preview.expiresAt} />
              </span>
              {preview.isFork && <span>of a fork</span>}
              {waitsForApproval(preview) && <strong>waits for your approval</strong>}
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}

/** The response replaces the form, with errors if there are any. */
export const SettingsOfPreviews = ({ project, draft }: FormProps) => (
  <SettingsForm
    id="preview-settings"
    title="Settings"
    about={
      <>
        Each preview is a copy of the project’s first environment, with its own address and empty
        volumes.
        {project.webhookId === null && (
          <>
            {' '}
            <a href={`/projects/${project.id}/deliveries`}>The webhook</a> must report pull requests
            (GitLab: merge requests) beside pushes: choose these events at the provider.
          </>
        )}
      </>
    }
    action={`/projects/${project.id}/previews`}
    draft={draft}
  >
    <SchemaFields schema={previewForm} values={previewSettings(project)} />
  </SettingsForm>
)
