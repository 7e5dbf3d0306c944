import { sampleUrl } from '../git/sample.ts'
import type { Child } from 'hono/jsx'
import type { environments } from '../db/schema.ts'
import { PageHead } from '../web/components.tsx'
import { Monogram } from '../web/logo.tsx'
import { DeployButton } from './deploy-button.tsx'
import type { Project } from './store.ts'

type ProjectFrameProps = {
  project: Project
  tab: keyof typeof tabs
  /** Those that can be deployed. If there are several, the button asks for one. */
  environments: Pick<typeof environments.$inferSelect, 'id' | 'name'>[]
  children: Child
}

export const ProjectFrame = ({ project, tab, environments, children }: ProjectFrameProps) => (
  <>
    <PageHead
      title={project.name}
      mark={<Monogram name={project.name} seed={project.id} />}
      crumbs={[{ href: '/projects', name: 'Projects' }]}
      doc={tabs[tab].doc}
    >
      {!project.deletingAt && environments.length > 0 && (
        <DeployButton project={project} environments={environments} />
      )}
    </PageHead>
    <p class="subtitle">
      <SourceLink project={project} />
    </p>
    {project.deletingAt && (
      <div class="alert" data-variant="destructive">
        <strong>This project is being deleted.</strong>
        <section>
          Its containers, images and files are being removed. It disappears from here when that is
          done.
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
    <strong>The webhook no longer deploys.</strong>
    <section>
      <p>
        It uses an old secret, from before this project was transferred to you, or its provider
        failed while Davit replaced it.{' '}
        <a href={`/projects/${project.id}/deliveries`}>
          {project.sourceId
            ? 'Register the webhook again.'
            : project.image === null
              ? 'Create a new secret, then enter it at your provider.'
              : 'Create a new address, then enter it at the registry.'}
        </a>
      </p>
    </section>
  </div>
)

const tabs = {
  overview: { title: 'Overview', path: '', doc: 'first-app' },
  deployments: { title: 'Deployments', path: '/deployments', doc: 'deployments' },
  environments: { title: 'Environments', path: '/envs', doc: 'apps#environments' },
  previews: { title: 'Previews', path: '/previews', doc: 'previews' },
  webhooks: { title: 'Webhooks', path: '/deliveries', doc: 'git#webhooks' },
  settings: { title: 'Settings', path: '/settings', doc: 'apps#dockerfile' },
}

export const SourceLink = ({
  project: { image, repositoryUrl },
}: {
  project: Pick<Project, 'image' | 'repositoryUrl'>
}) =>
  image === null ? (
    <RepositoryLink url={repositoryUrl} />
  ) : (
    <span class="repository" dir="ltr">
      {image}
    </span>
  )

const RepositoryLink = ({ url }: { url: string }) =>
  /^https?:\/\//.test(url) && url !== sampleUrl ? (
    <a class="repository" href={url} rel="noreferrer" dir="ltr">
      {shortAddress(url)}
    </a>
  ) : (
    <span class="repository" dir="ltr">
      {url === sampleUrl ? 'Davit’s sample app' : url}
    </span>
  )

const shortAddress = (url: string) => url.replace(/^https?:\/\//, '').replace(/\.git$/, '')
