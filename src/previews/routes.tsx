import type { Context } from 'hono'
import { asWriter } from '../db/queries.ts'
import { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { deploymentJson } from '../deployments/json.ts'
import { commitHash } from '../deployments/trigger-forms.ts'
import type { TriggerDeps } from '../deployments/trigger.ts'
import { publishSuperseded } from '../deployments/waiting-store.ts'
import type { Edge } from '../edge/edge.ts'
import { listPreviews } from '../environments/preview-store.ts'
import { liveEnvironmentIn } from '../environments/own-environment.ts'
import type { Environment } from '../environments/store.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { aboutProject, ownKey, ownProject } from '../projects/own-project.ts'
import {
  findLiveProject,
  findProject,
  listSiblings,
  listTargets,
  updateProject,
} from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { registerWebhook } from '../projects/webhook.ts'
import type { WebhookDeps } from '../projects/webhook.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { moveOn, show, showSaved } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { approve } from './approve.ts'
import { PreviewsPage, SettingsOfPreviews } from './page.tsx'
import { changedSettings, previewForm, previewSettings } from './settings.ts'

const approveForm = z.object({ commit: commitHash })

/** How pull requests get environments, and what of forks may be deployed. */
export const previewRoutes = (deps: TriggerDeps & WebhookDeps & { edge: Pick<Edge, 'sync'> }) => {
  const { db } = deps
  const audit = auditor(db)
  const own = ownProject(deps)

  return factory
    .createApp()
    .get('/projects/:id/previews', (c) => show(c, { ...settings(c, emptyDraft), live: {} }))
    .put('/projects/:id/previews', own, input(previewForm, settings), async (c) => {
      const asked = findLiveProject(db, ownKey(c))
      const { enabled } = changedSettings(db, asked, c.var.input)
      if (enabled && !previewSettings(asked).enabled) await askForPulls(asked, c.req.raw.signal)
      const project = findLiveProject(db, ownKey(c)) // others may have been changed meanwhile
      updateProject(db, project.id, { previews: changedSettings(db, project, c.var.input) })
      audit(c, 'previews.changed', aboutProject(project))
      const to = `/projects/${project.id}/previews`
      return showSaved(c, { to, said: 'Preview settings saved.', ...settings(c, emptyDraft) })
    })
    .post('/projects/:id/envs/:envId/approve', own, input(approveForm), (c) => {
      const { commit } = c.var.input
      const queued = asWriter(db, () => {
        const { project, environment } = liveEnvironmentIn(deps, c)
        const trigger = c.var.token ? ('api' as const) : ('manual' as const)
        const by = { trigger, triggeredBy: userOf(c).email }
        const queued = approve(db, { project, environment, commit, by })
        audit(c, 'preview.approved', {
          ...aboutPreview(project, environment),
          details: { commit },
        })
        return queued
      })
      publishSuperseded(deps, queued)
      deps.jobs.wake()
      void deps.edge.sync() // until then its name was not served
      const { deployment } = queued
      return moveOn(c, {
        to: deploymentPath(deployment),
        created: true,
        said: `Deployment #${deployment.number} queued.`,
        json: () => deploymentJson(deployment),
      })
    })

  /** A webhook reports pull requests only where previews are on: strangers open them. */
  async function askForPulls(project: Project, signal: AbortSignal) {
    const holder = [project, ...listSiblings(db, project)].find(({ webhookId }) => webhookId)
    if (holder) await registerWebhook(deps, { project: holder, pulls: true, signal })
  }

  function settings(c: Context, draft: Draft) {
    const project = findProject(db, ownKey(c))
    return {
      title: `${project.name}: previews`,
      page: () => (
        <PreviewsPage
          {...{ project, draft, environments: listTargets(db, project.id) }}
          previews={listPreviews(db, project.id)}
        />
      ),
      partial: () => <SettingsOfPreviews {...{ project, draft }} />,
      json: () => previewSettings(project),
    }
  }
}

const aboutPreview = ({ name: project }: Project, { id, name }: Environment) => ({
  object: { kind: 'environment', id, name: `${project} ${name}` } as const,
})
