import type { projects } from '../db/schema.ts'
import { EmptyState, MoreLink, PageHead } from '../web/components.tsx'
import { FormError, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'
import { Ago } from '../web/times.tsx'
import { RepositoryLink } from './repository-link.tsx'

type Project = typeof projects.$inferSelect

export const ProjectsPage = ({
  items,
  nextCursor,
}: {
  items: Project[]
  nextCursor: string | null
}) => (
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
                  <span class="visually-hidden">made </span>
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

const NewProjectLink = () => (
  <a class="btn" href="/projects/new">
    New project
  </a>
)

export const NewProjectPage = ({ draft }: { draft: Draft }) => (
  <div class="narrow">
    <PageHead title="New project" crumbs={[{ href: '/projects', name: 'Projects' }]} />
    <PostForm action="/projects" class="form">
      <FormError draft={draft} />
      <TextField
        name="repository_url"
        label="Repository"
        draft={draft}
        placeholder="https://example.com/team/app.git"
        hint="https://, http://, ssh:// or git@ – without a password in it."
        required
        autofocus
        maxlength={2000}
        code
      />
      <TextField
        name="name"
        label="Name"
        draft={draft}
        hint="What you call it here. It can be changed."
        required
        maxlength={60}
        autocomplete="off"
      />
      <TextField
        name="branch"
        label="Branch"
        draft={draft}
        placeholder="the repository’s default"
        maxlength={250}
        code
      />
      <section class="note">
        <h2>What happens next</h2>
        <ol>
          <li>
            The project gets an environment called <code>production</code>, with a port of this
            host.
          </li>
          <li>
            At each deployment Davit fetches the branch, builds its <code>Dockerfile</code> and
            starts the result.
          </li>
          <li>Only when the app answers does the deployment count as running.</li>
        </ol>
      </section>
      <div class="form-actions">
        <a class="btn" data-variant="ghost" href="/projects">
          Cancel
        </a>
        <button type="submit" class="btn" data-variant="outline">
          Create
        </button>
        <button type="submit" class="btn" name="deploy" value="1">
          Create and deploy
        </button>
      </div>
    </PostForm>
  </div>
)
