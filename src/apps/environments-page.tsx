import { ProjectFrame } from '../projects/project-frame.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Project } from '../projects/store.ts'
import type { Environment } from '../environments/store.ts'
import { EnvironmentLinks, environmentPath } from '../environments/views.tsx'
import { EnvironmentActions } from './environment-page.tsx'

type EnvironmentsPageProps = {
  project: Project
  environments: { environment: Environment; variables: number; url: string | null }[]
}

/** The third tab: where a project runs, and how. */
export const EnvironmentsPage = ({ project, environments }: EnvironmentsPageProps) => {
  const live = environments.flatMap(({ environment }) =>
    environment.deletingAt ? [] : [environment],
  )
  return (
    <ProjectFrame project={project} tab="environments" environments={live}>
      <div class="section-head">
        <p class="muted">Changes take effect with the next deployment.</p>
        <ButtonLink variant="outline" opens={`/projects/${project.id}/envs/new`}>
          New environment
        </ButtonLink>
      </div>
      <ul class="rows">
        {environments.map((row) => (
          <EnvironmentRow
            project={project}
            isLast={live.length === 1 && live[0] === row.environment}
            {...row}
          />
        ))}
      </ul>
    </ProjectFrame>
  )
}

type EnvironmentRowProps = {
  project: Project
  environment: Environment
  variables: number
  url: string | null
  isLast: boolean
}

const EnvironmentRow = ({ project, environment, variables, url, isLast }: EnvironmentRowProps) => (
  <li class="row">
    <div class="row-main">
      <h2 class="row-title">
        <a class="row-link" href={environmentPath(environment)}>
          <bdi>{environment.name}</bdi>
        </a>
      </h2>
      <p class="row-facts">
        <bdi>{environment.branch ?? project.branch ?? 'default branch'}</bdi>
        <span>{url ?? 'worker, no port'}</span>
        <span>
          {environment.memoryMb} MB, {environment.cpus} CPU
        </span>
        <span>
          {environment.deletingAt
            ? 'being deleted'
            : deploysWhen(environment.autoDeploy ?? project.autoDeploy)}
        </span>
      </p>
    </div>
    <div class="row-actions">
      <EnvironmentLinks environment={environment} variant="outline" variables={variables} />
      <EnvironmentActions {...{ project, environment, isLast }} />
    </div>
  </li>
)

const deploysWhen = (auto: boolean) => (auto ? 'deploys when pushed' : 'deploys by hand')
