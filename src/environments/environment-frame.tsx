import type { Child } from 'hono/jsx'
import { DeployEnvironmentButton } from '../projects/deploy-button.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { AppAddress, PageHead } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { Badge, notDeployed, statusInWords, StatusBadge } from '../web/status-badge.tsx'
import type { EnvironmentHead, Verb } from './head.ts'
import { AwaitedNote } from './server-notes.tsx'
import { FreezeNote } from './freeze-note.tsx'
import { PlannedNote, plannedPath } from './planned.tsx'
import { isUnapproved, PreviewNote } from './preview-note.tsx'
import { ShareNote, sharePath } from './share-note.tsx'
import type { Environment } from './store.ts'
import { environmentPath, metricsPath, promotePath, settingsPath } from './paths.ts'

export type Tab = (typeof tabs)[number]['tab']

type Props = {
  head: EnvironmentHead
  tab: Tab
  children: Child
}

export const EnvironmentFrame = ({ head, tab, children }: Props) => (
  <>
    <Head head={head} doc={tabs.find((one) => one.tab === tab)!.doc} />
    <nav class="tabs-line" aria-label="Environment">
      {tabs.map((other) => (
        <a href={other.of(head.environment)} aria-current={other.tab === tab ? 'page' : undefined}>
          {other.title}
        </a>
      ))}
    </nav>
    {children}
  </>
)

/** The same on every tab. */
const Head = ({ head, doc }: Pick<Props, 'head'> & { doc: string }) => {
  const { environment, project, state, deployment, url } = head
  const status = state ?? deployment?.status
  return (
    <Live
      id="environment-head"
      data-announce={`The environment is ${status ? statusInWords(status) : 'not deployed'}.`}
    >
      <PageHead
        title={environment.name}
        doc={doc}
        beside={
          <div class="environment-state">
            {state && <StatusBadge status={state} />}
            {!state && !deployment && <Badge {...notDeployed} />}
            {deployment && (
              <a href={deploymentPath(deployment)}>
                <StatusBadge status={deployment.status} /> #{deployment.number}
              </a>
            )}
            {url && <AppAddress url={url} />}
            {head.isDeleting && <span class="muted">being deleted</span>}
          </div>
        }
        crumbs={[
          { href: '/projects', name: 'Projects' },
          { href: `/projects/${project.id}`, name: project.name },
          { href: `/projects/${project.id}/envs`, name: 'Environments' },
        ]}
      >
        {!head.isDeleting && !(head.preview && isUnapproved(head.preview)) && <Acts {...head} />}
      </PageHead>
      <AwaitedNote awaited={head.awaited} why={whyAwaited(environment)} />
      {head.preview && <PreviewNote {...head} preview={head.preview} />}
      {head.freeze && <FreezeNote {...head.freeze} />}
      {head.shared && <ShareNote shared={head.shared} />}
      {head.planned && <PlannedNote planned={head.planned} environment={environment} />}
    </Live>
  )
}

const whyAwaited = ({ placement }: Environment) =>
  placement && 'server' in placement
    ? 'It is placed there by name, so it waits for it: change its placement and deploy it to run it elsewhere.'
    : 'If that is down, its containers are started on another server that may run them.'

const Acts = ({ environment, project, verbs, isShareable }: EnvironmentHead) => (
  <>
    {verbs.map((verb) => (
      <PostForm action={`/envs/${environment.id}/${verb}`}>
        <Button {...looks[verb]} aria-label={`${words[verb]} ${environment.name}`}>
          {words[verb]}
        </Button>
      </PostForm>
    ))}
    {environment.promoteFrom !== null && (
      <ButtonLink icon="arrow-up" opens={promotePath(environment)}>
        Promote…
      </ButtonLink>
    )}
    <ButtonLink variant="outline" opens={plannedPath(environment)}>
      Deploy later…
    </ButtonLink>
    {isShareable && (
      <ButtonLink variant="outline" opens={sharePath(environment)}>
        Deploy to a share…
      </ButtonLink>
    )}
    <DeployEnvironmentButton
      {...{ project, environment }}
      look={{
        icon: 'rocket',
        variant: verbs[0] === 'start' || environment.promoteFrom !== null ? 'outline' : undefined,
      }}
    />
  </>
)

const words: Record<Verb, string> = { start: 'Start', restart: 'Restart', stop: 'Stop' }

const looks = {
  start: { icon: 'play' },
  restart: { icon: 'rotate-cw', variant: 'outline' },
  stop: { icon: 'square', variant: 'outline' },
} as const

type ChangesNoteProps = {
  environment: Pick<Environment, 'id' | 'projectId'>
  /** The actions of the tab. */
  children: Child
}

export const ChangesNote = ({ environment, children }: ChangesNoteProps) => (
  <div class="section-head">
    <p class="muted">
      Changes take effect with the next deployment. The{' '}
      <a href={environmentPath(environment)}>overview</a> lists them, and applies them without a
      build.
    </p>
    <div class="actions">{children}</div>
  </div>
)

type Key = Pick<Environment, 'id' | 'projectId'>

const below = (name: string) => (key: Key) => `${environmentPath(key)}/${name}`
const ofId = (name: string) => (key: Key) => `/envs/${key.id}/${name}`

const tabs = [
  { tab: 'overview', doc: 'deployments', title: 'Overview', of: environmentPath },
  { tab: 'deployments', doc: 'deployments', title: 'Deployments', of: below('deployments') },
  { tab: 'logs', doc: 'logs#logs-of-apps-and-services', title: 'Logs', of: below('output') },
  { tab: 'metrics', doc: 'logs#metrics', title: 'Metrics', of: metricsPath },
  { tab: 'variables', doc: 'apps#variables', title: 'Variables', of: ofId('variables') },
  { tab: 'services', doc: 'services#databases-for-an-app', title: 'Services', of: ofId('links') },
  { tab: 'domains', doc: 'edge#names', title: 'Domains', of: ofId('domains') },
  { tab: 'runs', doc: 'deployments#one-off-commands', title: 'Runs', of: ofId('runs') },
  { tab: 'schedules', doc: 'deployments#schedules', title: 'Schedules', of: ofId('schedules') },
  { tab: 'backups', doc: 'backups', title: 'Backups', of: ofId('backups') },
  { tab: 'settings', doc: 'apps#environments', title: 'Settings', of: settingsPath },
] as const
