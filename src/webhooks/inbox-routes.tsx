import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { deploymentJson } from '../deployments/json.ts'
import { imageStateOf } from '../deployments/new-images/panel.tsx'
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
import { DeliveriesPage } from './deliveries-page.tsx'
import { providers } from '../git/providers/registry.ts'
import type { ProviderName } from '../git/providers/registry.ts'
import { branchOf } from './push.ts'
import { canReplay, replay } from './replay.ts'
import type { ReplayDeps } from './replay.ts'
import { repositoryAddressOf } from './repository-names.ts'
import { findDelivery, getSourceProvider, listDeliveries, listMade } from './store.ts'
import type { Delivery } from './store.ts'
import { WebhookSetup } from './webhook-setup.tsx'

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
      const deployments = await replay(deps, {
        ...{ project, delivery, triggeredBy: userOf(c).email },
        signal: c.req.raw.signal,
      })
      audit(c, 'delivery.replayed', {
        object: { kind: 'delivery', id: delivery.id, name: project.name },
      })
      return moveOn(c, {
        to: deploymentPath(deployments[0]!),
        said: `Deployment #${deployments[0]!.number} queued.`,
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
    const list = pageOf(listDeliveries(db, { projectId: project.id, ...page }), page)
    const receivers = receiversOf(c, project)
    return {
      title: `${project.name}: webhooks`,
      page: () => (
        <DeliveriesPage
          {...{ project, receivers, secret, ...list }}
          image={project.image === null ? null : imageStateOf(deps, project)}
          environments={listTargets(db, project.id)}
          siblings={new Map(listSiblings(db, project).map(({ id, name }) => [id, name]))}
          made={listMade(
            db,
            list.items.flatMap(({ deploymentIds }) => deploymentIds),
          )}
        />
      ),
      json: () => ({ ...list, items: list.items.map(deliveryJson), receivers }),
    }
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
