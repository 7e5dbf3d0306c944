import type { Child } from 'hono/jsx'
import type { environments } from '../db/schema.ts'
import { PageHead } from '../web/components.tsx'
import { DeployButton } from './deploy-button.tsx'
import type { Project } from './store.ts'

type Environment = typeof environments.$inferSelect

type ProjectFrameProps = {
  project: Project
  tab: keyof typeof tabs
  /** Asked for at the deploy button when there are several; without them the first is deployed. */
  environments?: Environment[]
  children: Child
}

/** What all pages of a project stand in: its name, its tabs, and the button that deploys it. */
export const ProjectFrame = ({ project, tab, environments = [], children }: ProjectFrameProps) => (
  <>
    <PageHead title={project.name} crumbs={[{ href: '/projects', name: 'Projects' }]}>
      {!project.deletingAt && <DeployButton project={project} environments={environments} />}
    </PageHead>
    <p class="subtitle">
      <RepositoryLink url={project.repositoryUrl} />
    </p>
    {project.deletingAt && (
      <div class="alert" data-variant="destructive">
        <strong>This project is being deleted.</strong>
        <section>
          Its containers, images and files are going. What is left of it disappears from here too.
        </section>
      </div>
    )}
    {project.webhookOutdated && !project.deletingAt && <OutdatedWebhook project={project} />}
    <nav class="tabs-line" aria-label="Project">
      {Object.entries(tabs).map(([name, { title, path }]) => (
        <a href={`/projects/${project.id}${path}`} aria-current={name === tab ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
    {children}
  </>
)

const OutdatedWebhook = ({ project }: { project: Project }) => (
  <div class="alert" data-variant="destructive" role="note">
    <strong>Pushes don’t deploy: the webhook has an old secret.</strong>
    <section>
      <p>
        Its secret was replaced when this project was given to you.{' '}
        <a href={`/projects/${project.id}/deliveries`}>
          {project.sourceId
            ? 'Register the webhook again.'
            : 'Create a new secret, then enter it at your provider.'}
        </a>
      </p>
    </section>
  </div>
)

const tabs = {
  overview: { title: 'Overview', path: '' },
  deployments: { title: 'Deployments', path: '/deployments' },
  environments: { title: 'Environments', path: '/envs' },
  webhooks: { title: 'Webhooks', path: '/deliveries' },
  settings: { title: 'Settings', path: '/settings' },
}

/** A repository's address: a link where a browser can follow it. */
export const RepositoryLink = ({ url }: { url: string }) =>
  /^https?:\/\//.test(url) ? (
    <a class="repository" href={url} rel="noreferrer" dir="ltr">
      {shortAddress(url)}
    </a>
  ) : (
    <span class="repository" dir="ltr">
      {url}
    </span>
  )

const shortAddress = (url: string) => url.replace(/^https?:\/\//, '').replace(/\.git$/, '')
