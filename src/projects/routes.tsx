import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { listAllSources } from '../git/store.ts'
import { randomToken } from '../platform/secrets.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import { show, showSaved } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { buildForm, projectUpdateForm } from './forms.ts'
import { projectJson } from './json.ts'
import { aboutProject, ownKey, ownProject } from './own-project.ts'
import { ProjectFrame } from './project-frame.tsx'
import { removalRoutes } from './removal-routes.tsx'
import type { RemovalDeps } from './remove.ts'
import { whyUnreadable } from './repository-choice.ts'
import { chooseFrom } from './repository-fields.tsx'
import { changeProject } from './save.ts'
import { BuildForm, ProjectForm, ProjectSettings } from './settings-page.tsx'
import { findLiveProject, findProject, listProjects, updateProject } from './store.ts'
import type { Project } from './store.ts'
import { ProjectsPage } from './views.tsx'
import { webhookRoutes } from './webhook-routes.tsx'
import { setWebhookSecret } from './webhook.ts'

/** Projects and their settings; the deployments slice makes them and shows what they deploy. */
export const projectRoutes = (deps: RemovalDeps) => {
  const { db, config } = deps
  const audit = auditor(db)
  const projectInput = input(projectUpdateForm(config), projectFormAgain)
  const buildInput = input(buildForm, buildFormAgain)

  return factory
    .createApp()
    .get('/projects', paged(), (c) => {
      const page = c.req.valid('query')
      const list = pageOf(listProjects(db, { ownerId: userOf(c).id, ...page }), page)
      return show(c, {
        title: 'Projects',
        page: () => <ProjectsPage {...list} />,
        json: () => ({ ...list, items: list.items.map(projectJson) }),
      })
    })
    .put('/projects/:id', ownProject(deps), projectInput, async (c) => {
      const asked = { project: findLiveProject(db, ownKey(c)), input: c.var.input }
      const project = await changeProject(deps, asked)
      if (!isEmpty(c.var.input)) audit(c, 'project.changed', aboutProject(project))
      return showSaved(c, {
        to: `/projects/${project.id}/settings`,
        ...settings(c, project, emptyDraft),
        partial: () => <ProjectForm {...formOf(c, project, emptyDraft)} saved />,
      })
    })
    .get('/projects/:id/settings', (c) =>
      show(c, settings(c, findProject(db, ownKey(c)), emptyDraft)),
    )
    .put('/projects/:id/settings', ownProject(deps), buildInput, async (c) => {
      const current = findLiveProject(db, ownKey(c))
      const { id } = current
      const { webhookSecret, ...changes } = c.var.input
      // null asks for a new one
      const newSecret = webhookSecret === null ? randomToken() : webhookSecret
      if (newSecret) {
        const { signal } = c.req.raw
        await setWebhookSecret(deps, { project: current, secret: newSecret, signal })
      }
      const project = updateProject(db, id, changes)
      if (!isEmpty(c.var.input)) audit(c, 'project.changed', aboutProject(project))
      if (newSecret) audit(c, 'webhook.secret_changed', aboutProject(project))
      return showSaved(c, {
        to: `/projects/${project.id}/settings`,
        ...settings(c, project, emptyDraft),
        partial: () => <BuildForm project={project} draft={emptyDraft} saved />,
        json: () => ({ ...projectJson(project), ...(newSecret && { webhookSecret: newSecret }) }),
      })
    })
    .route('/', webhookRoutes(deps))
    .route('/', removalRoutes(deps))

  function settings(c: Context, project: Project, draft: Draft) {
    return {
      title: `${project.name}: settings`,
      page: () => (
        <ProjectFrame project={project} tab="settings">
          <ProjectSettings {...formOf(c, project, draft)} />
        </ProjectFrame>
      ),
      json: () => projectJson(project),
    }
  }

  function formOf(c: Context, project: Project, draft: Draft) {
    const sources = listAllSources(db, project.ownerId)
    const from = chooseFrom(c.req.query('from'), { draft, sources, project })
    return { project, draft: withStored(draft, project), sources, from }
  }

  function projectFormAgain(c: Context, draft: Draft) {
    const project = findProject(db, ownKey(c))
    const partial = () => <ProjectForm {...formOf(c, project, draft)} />
    return { ...settings(c, project, draft), partial }
  }

  function buildFormAgain(c: Context, draft: Draft) {
    const project = findProject(db, ownKey(c))
    const partial = () => <BuildForm project={project} draft={draft} />
    return { ...settings(c, project, draft), partial }
  }
}

/** An address that can not be read is complained of like one that was typed, where it can be repaired. */
function withStored(draft: Draft, project: Project): Draft {
  const refusal = whyUnreadable(project)
  if (refusal === null || 'repository_url' in draft.values) return draft
  return { ...draft, errors: { ...draft.errors, repository_url: refusal } }
}

const isEmpty = (input: object) => Object.keys(input).length === 0
