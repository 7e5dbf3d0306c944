import type { Context } from 'hono'
import { userOf } from '../accounts/require-user.ts'
import type { Deps } from '../deps.ts'
import { journal } from '../journal.ts'
import { randomToken } from '../secrets.ts'
import { readBody } from '../web/body.ts'
import { factory } from '../web/factory.ts'
import { check, emptyDraft, input } from '../web/input.ts'
import type { Draft } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { moveOn, show } from '../web/respond.tsx'
import { patience, within } from '../web/within.ts'
import { DeleteProjectModal, RemovalReport } from './delete-project.tsx'
import { buildForm, projectForm, projectUpdateForm, removalForm } from './forms.ts'
import { freeHostPort } from './host-ports.ts'
import { projectJson } from './json.ts'
import { labelFilter } from './labels.ts'
import { ownKey, ownProject } from './own-project.ts'
import { ProjectFrame } from './project-frame.tsx'
import { removeProject } from './remove.ts'
import { BuildForm, ProjectForm, ProjectSettings } from './settings-page.tsx'
import {
  findLiveProject,
  findProject,
  insertProject,
  listProjects,
  updateProject,
} from './store.ts'
import type { Project } from './store.ts'
import { NewProjectPage, ProjectsPage } from './views.tsx'

/** Projects and their settings; what they deploy is shown by the deployments slice. */
export const projectRoutes = (deps: Deps) => {
  const projectInput = input(projectUpdateForm(deps.config), projectFormAgain(deps))
  const buildInput = input(buildForm, buildFormAgain(deps))

  return factory
    .createApp()
    .get('/projects', paged(), (c) => {
      const page = c.req.valid('query')
      const list = pageOf(listProjects(deps.db, { ownerId: userOf(c).id, ...page }), page)
      return show(c, {
        title: 'Projects',
        page: () => <ProjectsPage {...list} />,
        json: () => ({ ...list, items: list.items.map(projectJson) }),
      })
    })
    .get('/projects/new', (c) => show(c, newProject(emptyDraft)))
    .post(
      '/projects',
      input(projectForm(deps.config), (_, draft) => newProject(draft)),
      (c) => {
        const { name, repositoryUrl, branch = null, deploy } = c.var.input
        const user = userOf(c)
        const id = Bun.randomUUIDv7()
        const webhookSecret = randomToken()
        const project = insertProject(
          deps.db,
          {
            id,
            ownerId: user.id,
            name,
            repositoryUrl,
            branch,
            webhookSecret: deps.secrets.seal(webhookSecret, `webhook ${id}`),
          },
          { hostPort: freeHostPort(deps.db, deps.config) },
        )
        const started = deploy
          ? deps.queue.trigger({ project, trigger: 'manual', triggeredBy: user.email })
          : null
        return moveOn(c, {
          to: `/projects/${id}${started ? `/deployments/${started.id}` : ''}`,
          created: true,
          location: `/projects/${id}`,
          json: () => ({ ...projectJson(project), webhookSecret }),
        })
      },
    )
    .put('/projects/:id', ownProject(deps), projectInput, (c) => {
      const { id } = findLiveProject(deps.db, ownKey(c))
      const { name, repositoryUrl, branch } = c.var.input
      const project = updateProject(deps.db, id, { name, repositoryUrl, branch })
      return show(c, {
        ...settings(project, emptyDraft),
        partial: () => <ProjectForm project={project} draft={emptyDraft} saved />,
      })
    })
    .get('/projects/:id/settings', (c) =>
      show(c, settings(findProject(deps.db, ownKey(c)), emptyDraft)),
    )
    .put('/projects/:id/settings', ownProject(deps), buildInput, (c) => {
      const { id } = findLiveProject(deps.db, ownKey(c))
      const { webhookSecret, contextDir, buildArgs, autoDeploy, watchPaths, keepImages, ...rest } =
        c.var.input
      // null asks for a new one
      const newSecret = webhookSecret === null ? randomToken() : webhookSecret
      const project = updateProject(deps.db, id, {
        ...rest,
        contextDir: contextDir === null ? '.' : contextDir,
        buildArgs: buildArgs === null ? {} : buildArgs,
        autoDeploy: autoDeploy === null ? true : autoDeploy,
        watchPaths: watchPaths === null ? [] : watchPaths,
        keepImages: keepImages === null ? 5 : keepImages,
        webhookSecret: newSecret && deps.secrets.seal(newSecret, `webhook ${id}`),
      })
      return show(c, {
        ...settings(project, emptyDraft),
        partial: () => <BuildForm project={project} draft={emptyDraft} saved />,
        json: () => ({ ...projectJson(project), ...(newSecret && { webhookSecret: newSecret }) }),
      })
    })
    .get('/projects/:id/delete', async (c) => {
      const project = findProject(deps.db, ownKey(c))
      const labels = labelFilter(deps.instanceId, { projectId: project.id })
      const volumes = (await deps.docker.listVolumes({ labels })).map(({ name }) => name)
      return show(c, {
        title: `Delete ${project.name}`,
        page: () => <DeleteProjectModal project={project} volumes={volumes} />,
        json: () => ({ volumes }),
      })
    })
    .delete('/projects/:id', async (c) => {
      const project = findProject(deps.db, ownKey(c))
      const { data } = await readBody(c)
      const asked = check(removalForm, { kind: 'form', data: { ...data, ...c.req.query() } })
      const volumes = asked.volumes ?? project.deletingVolumes
      const work = removeProject(deps, { project, volumes })
      const removed = await within(patience, work)
      const done = removed !== null
      if (!done) {
        work.catch((error) => journal.error('project removal failed', error, { id: project.id }))
        c.header('Location', `/projects/${project.id}`)
      }
      const view = {
        title: `Delete ${project.name}`,
        page: () => <RemovalReport name={project.name} removed={removed ?? []} done={done} />,
        json: () => ({ removed: removed ?? [] }),
      }
      return show(c, view, done ? 200 : 202)
    })
}

const newProject = (draft: Draft) => ({
  title: 'New project',
  page: () => <NewProjectPage draft={draft} />,
})

const settings = (project: Project, draft: Draft) => ({
  title: `${project.name}: settings`,
  page: () => (
    <ProjectFrame project={project} tab="settings">
      <ProjectSettings project={project} draft={draft} />
    </ProjectFrame>
  ),
  json: () => projectJson(project),
})

const projectFormAgain =
  ({ db }: Deps) =>
  (c: Context, draft: Draft) => {
    const project = findProject(db, ownKey(c))
    return {
      ...settings(project, draft),
      partial: () => <ProjectForm project={project} draft={draft} />,
    }
  }

const buildFormAgain =
  ({ db }: Deps) =>
  (c: Context, draft: Draft) => {
    const project = findProject(db, ownKey(c))
    return {
      ...settings(project, draft),
      partial: () => <BuildForm project={project} draft={draft} />,
    }
  }
