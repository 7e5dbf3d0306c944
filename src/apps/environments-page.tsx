import { ProjectFrame } from '../projects/project-frame.tsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { Live } from '../web/live.tsx'
import { ButtonLink } from '../web/form.tsx'
import { In } from '../web/times.tsx'
import type { Project } from '../projects/store.ts'
import { followedInWords } from '../environments/followed.ts'
import type { Environment } from '../environments/store.ts'
import { isUnapproved, PullRequestLink, waitsForApproval } from '../environments/preview-note.tsx'
import type { Preview } from '../environments/preview-store.ts'
import { environmentPath, settingsPath } from '../environments/paths.ts'
import { EnvironmentLinks } from '../environments/views.tsx'
import type { rowsOf } from './shown.ts'

type EnvironmentsPageProps = {
  project: Project
  environments: Row[]
}

type Row = ReturnType<typeof rowsOf>[number]

export const EnvironmentsPage = ({ project, environments }: EnvironmentsPageProps) => {
  const live = environments.flatMap(({ environment }) =>
    environment.deletingAt ? [] : [environment],
  )
  return (
    <ProjectFrame project={project} tab="environments" environments={live}>
      <div class="section-head">
        <p class="muted">Changes take effect with the next deployment.</p>
        <ButtonLink icon="plus" variant="outline" opens={`/projects/${project.id}/envs/new`}>
          New environment
        </ButtonLink>
      </div>
      <Live as="ul" id="environments" class="rows">
        {environments.map((row) => (
          <EnvironmentRow
            project={project}
            {...row}
            source={live.find(({ id }) => id === row.environment.promoteFrom)}
          />
        ))}
      </Live>
    </ProjectFrame>
  )
}

type EnvironmentRowProps = Row & { project: Project; source: Environment | undefined }

const EnvironmentRow = ({
  project,
  environment,
  variables,
  url,
  preview,
  source,
}: EnvironmentRowProps) => (
  <li class="row" id={`e${environment.id}`}>
    <div class="row-main">
      <h2 class="row-title">
        <a class="row-link" href={environmentPath(environment)}>
          <bdi>{environment.name}</bdi>
        </a>
      </h2>
      <p class="row-facts">
        {preview ? (
          <span>
            preview of <PullRequestLink {...preview} />
          </span>
        ) : (
          <bdi>
            {source
              ? `promoted from ${source.name}`
              : (project.image ?? followedInWords({ environment, project }))}
          </bdi>
        )}
        <span>{url ?? 'worker, no port'}</span>
        <span>
          {environment.memoryMb} MiB, {environment.cpus} CPU
        </span>
        <span>
          {environment.deletingAt ? (
            'being deleted'
          ) : preview ? (
            <Ends {...preview} />
          ) : (
            deploysWhen(project, environment)
          )}
        </span>
      </p>
    </div>
    <div class="row-actions">
      <EnvironmentLinks environment={environment} variant="outline" variables={variables} />
      {!environment.deletingAt && !project.deletingAt && !(preview && isUnapproved(preview)) && (
        <DeployEnvironmentButton {...{ project, environment }} />
      )}
      <ButtonLink
        {...{ variant: 'outline', small: true, href: settingsPath(environment) }}
        aria-label={`Settings of ${environment.name}`}
      >
        Settings
      </ButtonLink>
    </div>
  </li>
)

const Ends = (preview: Preview) => (
  <>
    {waitsForApproval(preview) && 'waits for your approval, '}deleted <In at={preview.expiresAt} />
  </>
)

const deploysWhen = (project: Project, environment: Environment) => {
  const { autoDeploy, promoteFrom, promoteAutomatically, waitForChecks } = environment
  if (promoteFrom !== null)
    return promoteAutomatically ? 'promoted automatically' : 'promoted manually'
  if (!(autoDeploy ?? project.autoDeploy)) return 'deploys manually'
  if (waitForChecks) return 'deploys when checks passed'
  return project.image === null ? 'deploys on push' : 'deploys new images'
}
