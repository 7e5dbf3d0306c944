import { auditor } from '../audit/record.ts'
import { AppError, httpStatusOf } from '../platform/errors.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { show, showSaved } from '../web/respond.tsx'
import { aboutProject, ownKey } from './own-project.ts'
import { ProjectFrame } from './project-frame.tsx'
import { findLiveProject, findProject, listTargets } from './store.ts'
import type { Project } from './store.ts'
import { WebhookPanel } from './webhook-panel.tsx'
import { readWebhook, registerWebhook, removeWebhook } from './webhook.ts'
import type { WebhookDeps } from './webhook.ts'
import type { Webhook } from './webhook.ts'

export const webhookRoutes = (deps: WebhookDeps) => {
  const { db } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/projects/:id/webhook', async (c) => {
      const project = findProject(db, ownKey(c))
      try {
        const webhook = await readWebhook(deps, { project, signal: c.req.raw.signal })
        return show(c, panel(project, webhook))
      } catch (error) {
        // The panel loads by itself, so its errors must not open a dialog.
        if (!(error instanceof AppError) || clientOf(c) === 'program') throw error
        return show(c, panel(project, null, error.message), httpStatusOf[error.code])
      }
    })
    .post('/projects/:id/webhook', async (c) => {
      const project = findLiveProject(db, ownKey(c))
      const webhook = await registerWebhook(deps, { project, signal: c.req.raw.signal })
      audit(c, 'webhook.registered', aboutProject(project))
      const created = `/projects/${project.id}/webhook`
      const said = 'Webhook registered.'
      return showSaved(c, { to: listOf(project), said, created, ...panel(project, webhook) })
    })
    .delete('/projects/:id/webhook', async (c) => {
      const project = findLiveProject(db, ownKey(c))
      const { signal } = c.req.raw
      await removeWebhook(deps, { project, signal })
      audit(c, 'webhook.removed', aboutProject(project))
      const left = findProject(db, ownKey(c))
      const webhook = await readWebhook(deps, { project: left, signal })
      const said = 'Webhook removed.'
      return showSaved(c, { to: listOf(project), said, ...panel(left, webhook) })
    })

  function panel(project: Project, webhook: Webhook | null, trouble: string | null = null) {
    const drawn = () => <WebhookPanel {...{ project, webhook, trouble }} />
    return {
      title: `${project.name}: webhook`,
      page: () => (
        <ProjectFrame project={project} tab="webhooks" environments={listTargets(db, project.id)}>
          {drawn()}
        </ProjectFrame>
      ),
      partial: drawn,
      json: () => webhook,
    }
  }
}

/** The page that has the panel. */
const listOf = ({ id }: Project) => `/projects/${id}/deliveries`
