import { DeploymentList, deploymentPath } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import { AppLink } from '../deployments/overview.tsx'
import type { EnvironmentState } from '../deployments/overview.tsx'
import { EmptyState, PageHead, Trouble } from '../web/components.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Project } from '../projects/store.ts'

export const LandingPage = () => (
  <div class="hero">
    <h1>From a git URL to a running app</h1>
    <p>
      Davit fetches your repository, builds it, starts it, and tells you whether it answers. On your
      own machine, in one process.
    </p>
    <p class="actions">
      <a class="btn" data-size="lg" href="/login">
        Log in
      </a>
      <a class="btn" data-variant="outline" data-size="lg" href="/auth/register">
        Register
      </a>
    </p>
    <ol class="hero-steps" aria-label="How it goes">
      <li>
        <strong>Clone</strong> the exact commit
      </li>
      <li>
        <strong>Build</strong> its Dockerfile, live in your browser
      </li>
      <li>
        <strong>Deploy</strong> it, and roll back with one press
      </li>
    </ol>
  </div>
)

/** What runs where, and what happened lately. */
export const DashboardPage = ({
  projects,
  recent,
  engine,
}: {
  projects: { project: Project; environments: EnvironmentState[] }[]
  recent: DeploymentItem[]
  engine: { ok: boolean; detail: string }
}) => (
  <>
    <PageHead title="Dashboard">{projects.length > 0 && <NewProjectLink />}</PageHead>
    {!engine.ok && (
      <Trouble
        title="The Docker Engine does not answer"
        hint="Pages work meanwhile; nothing can be deployed."
        role="alert"
      >
        <p>{engine.detail}</p>
      </Trouble>
    )}
    {projects.length === 0 ? (
      <EmptyState title="Nothing runs here yet">
        <p>Name a git repository that has a Dockerfile. The rest takes a minute.</p>
        <NewProjectLink />
      </EmptyState>
    ) : (
      <ul class="cards">
        {projects.map((item) => (
          <ProjectCard {...item} />
        ))}
      </ul>
    )}
    {recent.length > 0 && (
      <section aria-labelledby="recent-heading">
        <h2 id="recent-heading">Recent deployments</h2>
        <DeploymentList items={recent} />
      </section>
    )}
  </>
)

const NewProjectLink = () => <ButtonLink href="/projects/new">New project</ButtonLink>

const ProjectCard = ({
  project,
  environments,
}: {
  project: Project
  environments: EnvironmentState[]
}) => (
  <li class="card project-card">
    <header>
      <h2>
        <a href={`/projects/${project.id}`}>
          <bdi>{project.name}</bdi>
        </a>
      </h2>
    </header>
    <ul>
      {environments.map(({ environment, current, latest, url }) => (
        <li>
          <p class="project-environment">
            <bdi>{environment.name}</bdi>
            {latest ? (
              <a class="status-link" href={deploymentPath(latest)}>
                <StatusBadge status={latest.status} />
              </a>
            ) : (
              <span class="muted">Not deployed</span>
            )}
          </p>
          <div class="project-app">
            <AppLink current={current} url={url} />
            {latest && (
              <p class="muted">
                <Ago at={latest.createdAt} />
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  </li>
)
