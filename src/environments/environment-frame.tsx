import type { Child } from 'hono/jsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import type { Project } from '../projects/store.ts'
import { PageHead } from '../web/components.tsx'
import type { Environment } from './store.ts'
import { environmentPath } from './views.tsx'

type Tab = (typeof tabs)[number]['tab']

type Props = {
  project: Pick<Project, 'id' | 'name'>
  environment: Pick<Environment, 'id' | 'projectId' | 'name'>
  tab: Tab
  /** What can be done on this page. */
  actions?: Child
  children: Child
}

/** What all pages of an environment stand in: its name, and its tabs. */
export const EnvironmentFrame = ({ project, environment, tab, actions, children }: Props) => (
  <>
    <PageHead
      title={environment.name}
      crumbs={[
        { href: '/projects', name: 'Projects' },
        { href: `/projects/${project.id}`, name: project.name },
        { href: `/projects/${project.id}/envs`, name: 'Environments' },
      ]}
    >
      {actions}
    </PageHead>
    <nav class="tabs-line" aria-label="Environment">
      {tabs.map((other) => (
        <a href={other.of(environment)} aria-current={other.tab === tab ? 'page' : undefined}>
          {other.title}
        </a>
      ))}
    </nav>
    {children}
  </>
)

type ChangesNoteProps = {
  project: Pick<Project, 'id' | 'name' | 'branch'>
  environment: Props['environment']
}

/** When what is changed on this page takes effect, and what can be done about it. */
export const ChangesNote = ({ project, environment }: ChangesNoteProps) => (
  <div class="section-head">
    <p class="muted">
      Changes take effect with the next deployment. The{' '}
      <a href={environmentPath(environment)}>overview</a> lists them, and applies them without a
      build.
    </p>
    <DeployEnvironmentButton project={project} environment={environment} label="Deploy now" />
  </div>
)

const tabs = [
  { tab: 'overview', title: 'Overview', of: environmentPath },
  { tab: 'variables', title: 'Variables', of: ({ id }: Key) => `/envs/${id}/variables` },
  { tab: 'services', title: 'Services', of: ({ id }: Key) => `/envs/${id}/links` },
  { tab: 'runs', title: 'Runs', of: ({ id }: Key) => `/envs/${id}/runs` },
  { tab: 'logs', title: 'Logs', of: (key: Key) => `${environmentPath(key)}/output` },
  { tab: 'usage', title: 'Usage', of: (key: Key) => `${environmentPath(key)}/usage` },
] as const

type Key = Pick<Environment, 'id' | 'projectId'>
