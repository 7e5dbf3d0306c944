import { EmptyState, PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { activitySorts, ListingForm, NothingFound, Pages } from '../web/listing.tsx'
import type { ActivitySort, Listed, Listing } from '../web/listing.tsx'
import { Live } from '../web/live.tsx'
import { Monogram } from '../web/logo.tsx'
import { Badge, lookOfStatus, notDeployed, StatusBadge, toneRanks } from '../web/status-badge.tsx'
import { Ago } from '../web/times.tsx'
import { SourceLink } from './project-frame.tsx'
import type { listDeployedProjects } from './store.ts'

type Item = ReturnType<typeof listDeployedProjects>[number]

/** Projects that were never deployed are last. */
export const activityOf = ({ project, latest }: Item) => ({
  id: latest?.id ?? project.id,
  name: project.name,
  rank: latest ? toneRanks[lookOfStatus(latest.status).tone] : 4,
})

export const textOf = ({ project }: Item) =>
  `${project.name} ${project.image ?? project.repositoryUrl}`

type Props = { listing: Listing<ActivitySort>; list: Listed<Item> }

export const ProjectsPage = ({ listing, list }: Props) => (
  <>
    <PageHead title="Projects" doc="first-app">
      {list.all > 0 && <NewProjectLink />}
    </PageHead>
    {list.all > 0 && (
      <ListingForm {...{ path: '/projects', listing, sorts: activitySorts, what: 'projects' }} />
    )}
    <Live id="projects">
      {list.all === 0 ? (
        <EmptyState title="No projects yet">
          <p>A project is a git repository or an image, and the environments it runs in.</p>
          <NewProjectLink />
        </EmptyState>
      ) : list.total === 0 ? (
        <NothingFound path="/projects">
          No project has “<bdi>{listing.q}</bdi>” in its name or address.
        </NothingFound>
      ) : (
        <ul class="rows">
          {list.items.map((item) => (
            <Row {...item} />
          ))}
        </ul>
      )}
      {list.all > 0 && <Pages {...{ path: '/projects', listing, list }} />}
    </Live>
  </>
)

const Row = ({ project, latest }: Item) => (
  <li class="row project-row" id={`p${project.id}`}>
    <Monogram name={project.name} seed={project.id} />
    <div class="row-main">
      <a class="row-link" href={`/projects/${project.id}`}>
        <bdi>{project.name}</bdi>
      </a>
      <p class="row-facts">
        <SourceLink project={project} />
        {project.image === null && project.branch && <bdi>{project.branch}</bdi>}
      </p>
    </div>
    <p class="row-end">
      {project.deletingAt ? (
        'being deleted'
      ) : (
        <>
          <span class="visually-hidden">{latest ? 'deployed ' : 'created '}</span>
          <Ago at={latest?.createdAt ?? project.createdAt} />
        </>
      )}
    </p>
    {latest ? <StatusBadge status={latest.status} /> : <Badge {...notDeployed} />}
  </li>
)

export const NewProjectLink = () => (
  <ButtonLink icon="plus" href="/projects/new">
    New project
  </ButtonLink>
)
