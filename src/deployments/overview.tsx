import {
  AppAddress,
  CommitRef,
  EmptyState,
  hostOf,
  PulledRef,
  UploadRef,
} from '../web/components.tsx'
import { environmentPath } from '../environments/paths.ts'
import { EnvironmentLinks } from '../environments/views.tsx'
import { FreezeNote } from '../environments/freeze-note.tsx'
import type { Freeze } from '../environments/freeze-store.ts'
import { PlannedNote } from '../environments/planned.tsx'
import type { Rests } from '../environments/share.ts'
import type { Planned } from '../environments/planned-store.ts'
import type { Environment } from '../environments/store.ts'
import { Button, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { Badge, notDeployed, StatusBadge } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { DeploymentList, deploymentPath } from '../projects/deployment-list.tsx'
import type { DeploymentItem } from '../projects/deployment-list.tsx'
import type { Project } from '../projects/store.ts'
import { KeptVersion } from './rollback-dialog.tsx'
import { deploymentActions } from './row-menu.tsx'
import type { listEnvironmentStates } from './overview-store.ts'
import { pulledOf } from './store.ts'
import type { Deployment } from './store.ts'

type EnvironmentState = ReturnType<typeof listEnvironmentStates>[number] & {
  url: string | null
  planned: Planned | null
  freeze: Freeze | null
  /** The version before, if its containers are kept. */
  kept: Deployment | undefined
}

type ProjectOverviewProps = {
  project: Project
  environments: EnvironmentState[]
  /** Explains why apps aren't published as configured; null when they are. */
  note: string | null
  recent: DeploymentItem[]
  rests: Rests
}

/** The first tab of a project. */
export const ProjectOverview = ({
  project,
  environments,
  note,
  recent,
  rests,
}: ProjectOverviewProps) => (
  <>
    <Live as="section" id="environments" aria-labelledby="environments-heading">
      <h2 id="environments-heading">Environments</h2>
      {note && <p class="muted">{note}</p>}
      <ul class="cards">
        {environments.map((state) => (
          <EnvironmentCard project={project} {...state} />
        ))}
      </ul>
    </Live>
    <Live as="section" id="recent" aria-labelledby="recent-heading">
      <h2 id="recent-heading">Recent deployments</h2>
      {recent.length === 0 ? (
        <EmptyState title="Nothing deployed yet">
          <p>
            The first deployment {project.image ? 'pulls the image' : 'clones the repository'}, so
            it takes a little longer.
          </p>
        </EmptyState>
      ) : (
        <DeploymentList items={recent} rests={rests} actions={deploymentActions(project)} />
      )}
    </Live>
  </>
)

/** The button deploys the first environment, like a deployment without a chosen one. */
export const NothingDeployed = ({
  project,
  environments,
}: {
  project: Project
  environments: Environment[]
}) => {
  const [first] = project.deletingAt ? [] : environments.filter((one) => one.deletingAt === null)
  return (
    <EmptyState title="Nothing deployed yet">
      <p>
        {project.image
          ? 'A deployment pulls the image and starts the app.'
          : 'A deployment fetches the repository, builds its image and starts the app.'}
      </p>
      {first && (
        <PostForm action={`/projects/${project.id}/deployments`}>
          <input type="hidden" name="environment_id" value={first.id} />
          <Button icon="rocket">
            Deploy <bdi>{first.name}</bdi>
          </Button>
        </PostForm>
      )}
    </EmptyState>
  )
}

const EnvironmentCard = ({
  project,
  environment,
  current,
  latest,
  url,
  planned,
  freeze,
  kept,
}: EnvironmentState & { project: Project }) => {
  const shown = current ?? latest
  return (
    <li class="card environment-card" id={`e${environment.id}`}>
      <header>
        <h3>
          <a href={environmentPath(environment)}>
            <bdi>{environment.name}</bdi>
          </a>
        </h3>
        {shown ? <StatusBadge status={shown.status} /> : <Badge {...notDeployed} />}
      </header>
      <section>
        <AppLink current={current} url={url} />
        {current && <CommitRef hash={current.commitHash} message={current.commitMessage} />}
        {current?.upload && <UploadRef {...current.upload} />}
        {current?.pullReference && <PulledRef {...pulledOf(current)!} />}
        {latest && latest.id !== current?.id && (
          <p class="muted">
            <a href={deploymentPath(latest)}>Deployment #{latest.number}</a>{' '}
            {current ? `${latest.status} ` : ''}
            <Ago at={latest.createdAt} />
          </p>
        )}
        {current && latest?.id === current.id && (
          <p class="muted">
            <a href={deploymentPath(current)}>Deployed</a> <Ago at={current.createdAt} />
          </p>
        )}
        {freeze && <FreezeNote {...freeze} />}
        {kept && !project.deletingAt && <KeptVersion deployment={kept} />}
        {planned && <PlannedNote {...{ planned, environment }} />}
      </section>
      {!project.deletingAt && (
        <footer>
          <DeployEnvironmentButton project={project} environment={environment} />
          <EnvironmentLinks environment={environment} variant="ghost" />
        </footer>
      )}
    </li>
  )
}

/** A link only while the app is running. */
const AppLink = ({ current, url }: { current: Deployment | null; url: string | null }) => {
  if (url === null) return <p class="muted">Worker, without a port</p>
  if (!current) return <p class="muted">Will be at {hostOf(url)}</p>
  if (current.status !== 'running') return <p class="muted">Stopped, at {hostOf(url)}</p>
  return (
    <p>
      <AppAddress url={url} />
    </p>
  )
}
