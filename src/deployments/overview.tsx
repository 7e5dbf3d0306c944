import { AppAddress, CommitRef, EmptyState, hostOf } from '../web/components.tsx'
import { EnvironmentLinks, environmentPath } from '../environments/views.tsx'
import { StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { DeploymentList, deploymentPath } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import type { listEnvironmentStates } from './overview-store.ts'
import type { Deployment } from './store.ts'

export type EnvironmentState = ReturnType<typeof listEnvironmentStates>[number] & {
  url: string | null
}

type ProjectOverviewProps = {
  project: Project
  environments: EnvironmentState[]
  /** Why they aren't published where the settings say; null where they are. */
  note: string | null
  recent: DeploymentItem[]
}

/** The first tab: what runs where, and what was deployed lately. */
export const ProjectOverview = ({ project, environments, note, recent }: ProjectOverviewProps) => (
  <>
    <section aria-labelledby="environments-heading">
      <h2 id="environments-heading">Environments</h2>
      {note && <p class="muted">{note}</p>}
      <ul class="cards">
        {environments.map((state) => (
          <EnvironmentCard project={project} {...state} />
        ))}
      </ul>
    </section>
    <section aria-labelledby="recent-heading">
      <h2 id="recent-heading">Recent deployments</h2>
      {recent.length === 0 ? (
        <EmptyState title="Nothing deployed yet">
          <p>The first deployment clones the repository, so it takes a little longer.</p>
        </EmptyState>
      ) : (
        <DeploymentList items={recent} />
      )}
    </section>
  </>
)

const EnvironmentCard = ({
  project,
  environment,
  current,
  latest,
  url,
}: EnvironmentState & { project: Project }) => (
  <li class="card environment-card">
    <header>
      <h3>
        <a href={environmentPath(environment)}>
          <bdi>{environment.name}</bdi>
        </a>
      </h3>
      {latest ? <StatusBadge status={latest.status} /> : <span class="muted">Not deployed</span>}
    </header>
    <section>
      <AppLink current={current} url={url} />
      {current && <CommitRef hash={current.commitHash} message={current.commitMessage} />}
      {latest && latest.id !== current?.id && (
        <p class="muted">
          <a href={deploymentPath(latest)}>Last attempt</a> <Ago at={latest.createdAt} />
          {current && ', an earlier one serves'}
        </p>
      )}
      {current && latest?.id === current.id && (
        <p class="muted">
          <a href={deploymentPath(current)}>Deployed</a> <Ago at={current.createdAt} />
        </p>
      )}
    </section>
    {!project.deletingAt && (
      <footer>
        <DeployEnvironmentButton project={project} environment={environment} />
        <EnvironmentLinks environment={environment} variant="ghost" />
      </footer>
    )}
  </li>
)

/** The app's address: a link only while something answers there. */
export const AppLink = ({ current, url }: { current: Deployment | null; url: string | null }) => {
  if (url === null) return <p class="muted">Worker, without a port</p>
  if (!current) return <p class="muted">Will be at {hostOf(url)}</p>
  return (
    <p>
      <AppAddress url={current.url ?? url /* what runs stays where it was published */} />
    </p>
  )
}
