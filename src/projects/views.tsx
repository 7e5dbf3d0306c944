import { EmptyState, MoreLink, PageHead } from '../web/components.tsx'
import { Ago } from '../web/times.tsx'
import { RepositoryLink } from './project-frame.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Project } from './store.ts'

type ProjectsPageProps = { items: Project[]; nextCursor: string | null }

export const ProjectsPage = ({ items, nextCursor }: ProjectsPageProps) => (
  <>
    <PageHead title="Projects">{items.length > 0 && <NewProjectLink />}</PageHead>
    {items.length === 0 ? (
      <EmptyState title="No projects yet">
        <p>A project is a git repository with a Dockerfile, and the places where it runs.</p>
        <NewProjectLink />
      </EmptyState>
    ) : (
      <ul class="rows">
        {items.map((project) => (
          <li class="row">
            <div class="row-main">
              <a class="row-link" href={`/projects/${project.id}`}>
                <bdi>{project.name}</bdi>
              </a>
              <p class="row-facts">
                <RepositoryLink url={project.repositoryUrl} />
                {project.branch && <bdi>{project.branch}</bdi>}
              </p>
            </div>
            <p class="row-end">
              {project.deletingAt ? (
                'being deleted'
              ) : (
                <>
                  <span class="visually-hidden">created </span>
                  <Ago at={project.createdAt} />
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    )}
    <MoreLink href="/projects" nextCursor={nextCursor} />
  </>
)

const NewProjectLink = () => <ButtonLink href="/projects/new">New project</ButtonLink>
