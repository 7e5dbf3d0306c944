import type { Context } from 'hono'
import type { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { answerUsage } from '../containers/usage/process-charts.tsx'
import type { UsageDeps } from '../containers/usage/process-usage.ts'
import { usageQuery } from '../containers/usage/sample-history.ts'
import { answerOutput, outputOf, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { outputQuery, outputStreamQuery } from '../logs/forms.ts'
import { report } from '../platform/journal.ts'
import { pause } from '../platform/pause.ts'
import { refuseMore } from '../platform/limits.ts'
import { freeHostPort, refuseUsedPort } from '../projects/host-ports.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { placesOf } from '../projects/places.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { countEnvironments, findLiveProject, findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { refuseWithoutEngine } from '../runtime/remove.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { within } from '../web/within.ts'
import { editQuery, environmentForm, environmentUpdateForm } from '../environments/forms.ts'
import { procfileOffer } from '../environments/procfile.ts'
import { environmentPath } from '../environments/views.tsx'
import { environmentJson } from './json.ts'
import { jsonOf, urlNow, viewOf } from './shown.ts'
import type { ShownDeps } from './shown.ts'
import { removeEnvironment } from '../environments/remove.ts'
import {
  countVariables,
  findEnvironment,
  findLiveEnvironment,
  insertEnvironment,
  listEnvironments,
  pageOfEnvironments,
  refuseLast,
  updateEnvironment,
} from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import { EnvironmentModal } from '../environments/environment-form.tsx'
import { EnvironmentActions, EnvironmentStatus } from './environment-page.tsx'
import { EnvironmentsPage } from './environments-page.tsx'

/** Environments of a project: where it is deployed to, how it runs there, and what it wrote. */
export const environmentRoutes = (deps: RemovalDeps & StreamDeps & ShownDeps & UsageDeps) => {
  const { db } = deps
  const audit = auditor(db)
  const own = ownProject(deps)

  return factory
    .createApp()
    .get('/projects/:id/envs', paged(), async (c) => {
      const project = findProject(db, ownKey(c))
      const page = c.req.valid('query')
      const rows = () => {
        const counts = countVariables(db, project.id)
        return listEnvironments(db, project.id).map((environment) => ({
          environment,
          variables: counts.get(environment.id) ?? 0,
          url: urlNow(deps, environment, project),
        }))
      }
      const list = pageOf(pageOfEnvironments(db, { projectId: project.id, ...page }), page)
      const items: Awaited<ReturnType<typeof jsonOf>>[] = []
      for (const environment of clientOf(c) === 'program' ? list.items : []) {
        items.push(await jsonOf(deps, environment, project))
        await pause()
      }
      return show(c, {
        title: `${project.name}: environments`,
        page: () => <EnvironmentsPage project={project} environments={rows()} />,
        json: () => ({ ...list, items }),
      })
    })
    .get('/projects/:id/envs/new', (c) => show(c, newEnvironment(c, emptyDraft)))
    .post('/projects/:id/envs', own, input(environmentForm, newEnvironment), async (c) => {
      const project = findLiveProject(db, ownKey(c))
      refuseMore('environments', countEnvironments(db, project.ownerId))
      const { hostPort, ...values } = c.var.input
      const places = placesOf(deps, project.ownerId)
      if (hostPort) refuseUsedPort(deps, { port: hostPort, ...places })
      const environment = insertEnvironment(db, {
        ...values,
        projectId: project.id,
        hostPort: hostPort ?? freeHostPort(db, places),
      })
      audit(c, 'environment.created', about(environment, project))
      const json = await jsonOf(deps, environment, project)
      return moveOn(c, { to: environmentPath(environment), created: true, json: () => json })
    })
    .get('/projects/:id/envs/:envId', async (c) => {
      const { project, environment } = find(c)
      const view = await viewOf(deps, environment, project)
      return show(c, {
        title: `${project.name}: ${environment.name}`,
        page: () => (
          <EnvironmentFrame
            {...{ project, environment }}
            tab="overview"
            actions={<EnvironmentActions {...view} />}
          >
            <EnvironmentStatus {...view} />
          </EnvironmentFrame>
        ),
        partial: () => <EnvironmentStatus {...view} />,
        json: () => environmentJson(environment, view),
      })
    })
    .get('/projects/:id/envs/:envId/edit', own, query(editQuery), (c) =>
      show(c, editEnvironment(c, emptyDraft, c.req.valid('query'))),
    )
    .put(
      '/projects/:id/envs/:envId',
      own,
      input(environmentUpdateForm, editEnvironment),
      async (c) => {
        const project = findLiveProject(db, ownKey(c))
        const current = findLiveEnvironment(db, { id: c.req.param('envId'), projectId: project.id })
        const { hostPort, ...changes } = c.var.input
        const places = placesOf(deps, project.ownerId)
        if (hostPort) refuseUsedPort(deps, { port: hostPort, ...places })
        const environment = updateEnvironment(db, current.id, {
          ...changes,
          hostPort: hostPort === null ? freeHostPort(db, places) : hostPort,
        })
        audit(c, 'environment.changed', about(environment, project))
        const json = await jsonOf(deps, environment, project)
        return moveOn(c, { to: environmentPath(environment), json: () => json })
      },
    )
    .get('/projects/:id/envs/:envId/output', own, query(outputQuery), (c) => {
      const { project, environment } = find(c)
      return answerOutput(c, deps, {
        source: environment,
        asked: c.req.valid('query'),
        title: `${project.name}: logs of ${environment.name}`,
        frame: (view) => (
          <EnvironmentFrame {...{ project, environment }} tab="logs">
            {view}
          </EnvironmentFrame>
        ),
      })
    })
    .get('/projects/:id/envs/:envId/output/stream', own, query(outputStreamQuery), (c) =>
      streamLog(c, deps, { log: outputOf(find(c).environment), asked: c.req.valid('query') }),
    )
    .get('/projects/:id/envs/:envId/usage', own, query(usageQuery), (c) => {
      const { project, environment } = find(c)
      return answerUsage(c, deps, {
        workloadId: environment.id,
        range: c.req.valid('query').range,
        title: `${project.name}: usage of ${environment.name}`,
        frame: (view) => (
          <EnvironmentFrame {...{ project, environment }} tab="usage">
            {view}
          </EnvironmentFrame>
        ),
      })
    })
    .delete('/projects/:id/envs/:envId', async (c) => {
      const project = findLiveProject(db, ownKey(c))
      const environment = findEnvironment(db, { id: c.req.param('envId'), projectId: project.id })
      refuseLast(db, environment)
      await refuseWithoutEngine(deps)
      db.transaction(() => {
        refuseLast(db, environment) // another one may have gone meanwhile
        const deletingAt = environment.deletingAt ?? new Date()
        updateEnvironment(db, environment.id, { deletingAt })
        audit(c, 'environment.deleted', about(environment, project))
      })
      const work = removeEnvironment(deps, environment)
      const removed = await within(deps.config.patience, work)
      if (!removed) {
        const fields = { environment: environment.id }
        work.catch((error) => report('environment removal failed', error, fields))
        c.status(202)
        c.header('Location', environmentPath(environment))
      }
      const json = () => ({ removed: removed ?? [] })
      return moveOn(c, { to: `/projects/${project.id}/envs`, json })
    })

  function newEnvironment(c: Context, draft: Draft) {
    const project = findProject(db, ownKey(c))
    return {
      title: 'New environment',
      page: () => <EnvironmentModal project={project} environment={null} draft={draft} />,
    }
  }

  function find(c: Context) {
    const project = findProject(db, ownKey(c))
    const key = { id: c.req.param('envId')!, projectId: project.id }
    return { project, environment: findEnvironment(db, key) }
  }

  function editEnvironment(c: Context, draft: Draft, asked: z.infer<typeof editQuery> = {}) {
    const { project, environment } = find(c)
    const offer = asked.procfile ? procfileOffer(environment) : null
    return {
      title: `Edit ${environment.name}`,
      page: () => <EnvironmentModal {...{ project, environment, offer, draft }} />,
    }
  }
}

const about = ({ id, name }: Environment, project: Project) => ({
  object: { kind: 'environment' as const, id, name: `${project.name} ${name}` },
})
