import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { deploymentJson } from '../deployments/json.ts'
import { imageStateOf, ImagePanel } from '../deployments/new-images/panel.tsx'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { aboutProject, ownKey } from '../projects/own-project.ts'
import { findLiveProject, findProject, listSiblings, listTargets } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { shownHook } from '../projects/registry-hook.ts'
import { setWebhookSecret, showWebhookSecret } from '../projects/webhook.ts'
import type { WebhookDeps } from '../projects/webhook.ts'
import { randomToken } from '../platform/secrets.ts'
import { requestOrigin } from '../web/own-host.ts'
import { factory } from '../web/factory.ts'
import { pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { providers, titles } from '../git/providers/registry.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import { branchOf } from './push.ts'
import { canReplay, refuseMaking, replay } from './replay.ts'
import type { ReplayDeps } from './replay.ts'
import { repositoryAddressOf } from './repository-names.ts'
import { findDelivery, getSourceProvider, listDeliveries, listMade } from './store.ts'
import type { Delivery, CreatedDeployment } from './store.ts'
import { WebhookSetup } from './webhook-setup.tsx'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { WebhookPanelLoader } from '../projects/webhook-panel.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { CommitRef, EmptyState, MoreLink } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { registryTitles } from './registry-notice.ts'

export const inboxRoutes = (deps: ReplayDeps & WebhookDeps) => {
  const { db, config } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/projects/:id/deliveries', paged(), (c) => {
      const project = findProject(db, ownKey(c))
      return show(c, inbox(c, { project, page: c.req.valid('query') }))
    })
    .post('/projects/:id/deliveries/:deliveryId/replay', async (c) => {
      const project = findLiveProject(db, ownKey(c))
      const delivery = findDelivery(db, { id: c.req.param('deliveryId'), projectId: project.id })
      refuseMaking(c, delivery)
      const deployments = await replay(deps, {
        ...{ project, delivery, triggeredBy: userOf(c).email },
        signal: c.req.raw.signal,
      })
      const [first] = deployments
      audit(c, 'delivery.replayed', {
        object: { kind: 'delivery', id: delivery.id, name: project.name },
      })
      return moveOn(c, {
        to: first ? deploymentPath(first) : `/projects/${project.id}/deliveries`,
        said: first ? `Deployment #${first.number} queued.` : 'Delivery replayed.',
        created: true,
        json: () => ({ deployments: deployments.map(deploymentJson) }),
      })
    })
    .post('/projects/:id/webhook-secret', async (c) => {
      const project = findLiveProject(db, ownKey(c))
      const secret = randomToken()
      await setWebhookSecret(deps, { project, secret, signal: c.req.raw.signal })
      audit(c, 'webhook.secret_changed', aboutProject(project))
      return shown(c, { project, secret })
    })
    .post('/projects/:id/webhook-secret/show', (c) => {
      const project = findLiveProject(db, ownKey(c))
      const secret = showWebhookSecret(deps, project)
      audit(c, 'webhook.secret_shown', aboutProject(project))
      return shown(c, { project, secret })
    })

  /** The response itself shows the secret, which isn't stored for a later one. */
  function shown(c: Context, { project, secret }: { project: Project; secret: string }) {
    c.header('Cache-Control', 'no-store')
    const { registryHook } = shownHook(c, deps, { project, secret })
    const shown = registryHook ?? secret
    return show(c, {
      ...inbox(c, { project, page: { limit: 50 }, secret: shown }),
      partial: () => (
        <WebhookSetup project={project} receivers={receiversOf(c, project)} secret={shown} />
      ),
      json: () => ({ webhookSecret: secret, ...(registryHook && { registryHook }) }),
    })
  }

  function inbox(
    c: Context,
    { project, page, secret = null }: { project: Project; page: Page; secret?: string | null },
  ) {
    const { items, nextCursor } = pageOf(
      listDeliveries(db, { projectId: project.id, ...page }),
      page,
    )
    const receivers = receiversOf(c, project)
    return {
      title: `${project.name}: webhooks`,
      page: () => (
        <ProjectFrame project={project} tab="webhooks" environments={listTargets(db, project.id)}>
          {project.sourceId && <WebhookPanelLoader project={project} />}
          {project.image !== null && (
            <ImagePanel project={project} state={imageStateOf(deps, project)} />
          )}
          <WebhookSetup project={project} receivers={receivers} secret={secret} />
          <div class="section-head">
            <h2>Deliveries</h2>
          </div>
          {items.length === 0 ? <NoneYet {...project} /> : listed(project, items)}
          <MoreLink href={`/projects/${project.id}/deliveries`} nextCursor={nextCursor} />
        </ProjectFrame>
      ),
      json: () => ({ items: items.map(deliveryJson), nextCursor, receivers }),
    }
  }

  function listed(project: Project, items: Delivery[]) {
    const siblings = new Map(listSiblings(db, project).map(({ id, name }) => [id, name]))
    const ids = items.flatMap(({ deploymentIds }) => deploymentIds)
    const made = listMade(db, ids)
    return (
      <ol class="rows">
        {items.map((delivery) => (
          <Row
            delivery={delivery}
            siblings={siblings}
            deployments={delivery.deploymentIds.flatMap((id) => made.get(id) ?? [])}
            isReplayable={!project.deletingAt && canReplay(delivery)}
          />
        ))}
      </ol>
    )
  }

  /** Returns the URL for the project's provider, or the URLs for all when the provider is unknown. */
  function receiversOf(c: Context, project: Project) {
    if (project.image !== null) return []
    const origin = requestOrigin(c, config)
    const host = repositoryAddressOf(project.repositoryUrl)?.host ?? ''
    const known = getSourceProvider(db, project) ?? providerOf.get(host)
    return (known ? [known] : (Object.keys(providers) as ProviderName[])).map((provider) => ({
      provider,
      url: `${origin}/webhooks/${provider}`,
    }))
  }
}

/** Well-known hosts. */
const providerOf = new Map<string, ProviderName>([
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['gitea.com', 'gitea'],
  ['codeberg.org', 'gitea'],
])

const deliveryJson = (delivery: Delivery) => {
  const { push, projectId, commitHash, commitMessage, ...shown } = delivery
  return {
    ...shown,
    branch: shown.ref && branchOf({ ref: shown.ref }),
    commit: { hash: commitHash, message: commitMessage },
    canReplay: canReplay(delivery),
  }
}

const NoneYet = ({ image }: Pick<Project, 'image'>) => (
  <EmptyState title="Nothing delivered yet">
    <p>
      {image === null
        ? 'Add the webhook at the provider. Then push to the repository, or send a test from the webhook’s page there.'
        : 'Add the webhook at the registry. Then push an image.'}
    </p>
    <ButtonLink variant="outline" href="#webhook-setup">
      Set up webhook
    </ButtonLink>
  </EmptyState>
)

type RowProps = {
  delivery: Delivery
  /** The names of the owner's projects of the repository, by id. */
  siblings: Map<string, string>
  deployments: CreatedDeployment[]
  isReplayable: boolean
}

const Row = ({ delivery, siblings, deployments, isReplayable }: RowProps) => (
  <li class="row deployment-row">
    <Badge {...looks[delivery.decision ?? 'ignored']} />
    <div class="row-main">
      <CommitRef hash={delivery.commitHash} message={delivery.commitMessage} />
      <p class="row-facts">
        <span>{{ ...titles, ...registryTitles }[delivery.provider]}</span>
        <bdi>{delivery.event || 'no event'}</bdi>
        {delivery.ref && <bdi>{branchOf({ ref: delivery.ref }) ?? delivery.ref}</bdi>}
        {delivery.provider in titles && (
          <span>{delivery.signatureOk ? 'signature valid' : 'signature invalid'}</span>
        )}
        {delivery.signedBy !== null && (
          <span>
            through the webhook of{' '}
            <bdi>{siblings.get(delivery.signedBy) ?? 'a deleted project'}</bdi>
          </span>
        )}
      </p>
      <p class="row-facts">
        {deployments.length === 0 && <bdi>{delivery.reason}</bdi>}
        {deployments.map((deployment, at) => (
          <span>
            {at === 0 && 'Deployed to '}
            <a href={deploymentPath(deployment)}>
              <bdi>{deployment.environment}</bdi>
            </a>
          </span>
        ))}
      </p>
    </div>
    <div class="row-actions">
      {isReplayable && (
        <PostForm action={`/projects/${delivery.projectId}/deliveries/${delivery.id}/replay`}>
          <Button variant="outline" small>
            Replay
          </Button>
        </PostForm>
      )}
    </div>
    <p class="row-end">
      <Ago at={delivery.createdAt} />
    </p>
  </li>
)

const looks: Record<NonNullable<Delivery['decision']>, Look> = {
  deployed: { word: 'Deployed', tone: 'good', icon: 'check' },
  ignored: { word: 'Ignored', tone: 'quiet', icon: 'minus' },
  accepted: { word: 'Accepted', tone: 'good', icon: 'check' },
  refused: { word: 'Refused', tone: 'bad', icon: 'x' },
  failed: { word: 'Failed', tone: 'bad', icon: 'x' },
}
