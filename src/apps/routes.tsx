import type { Context } from 'hono'
import type { z } from 'zod'
import { auditor } from '../audit/record.ts'
import { ProcessUsage } from '../containers/usage/process-charts.tsx'
import { usageOf, workloadUsageJson } from '../containers/usage/process-usage.ts'
import type { UsageDeps } from '../containers/usage/process-usage.ts'
import { answerOutput, outputOf, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { outputQuery, outputStreamQuery } from '../logs/forms.ts'
import { refuseDeleting } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { pause, within } from '../platform/pause.ts'
import { refuseMore } from '../platform/limits.ts'
import { freeHostPort, refuseUsedPort } from '../addresses/host-ports.ts'
import { freeLabel } from '../addresses/labels.ts'
import { listHosts, setHosts } from '../addresses/store.ts'
import { served } from '../addresses/urls.ts'
import type { Serving } from '../addresses/urls.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { placesOf } from '../addresses/places.ts'
import type { RemovalDeps } from '../projects/remove.ts'
import { countEnvironments, findLiveProject, findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { refuseWithoutEngine } from '../runtime/remove.ts'
import { servedJson, trafficOf, trafficQuery } from '../traffic/routes.tsx'
import type { TrafficDeps } from '../traffic/routes.tsx'
import { TrafficPanel } from '../traffic/traffic-page.tsx'
import { RangeChoice, rangeQuery, refreshEvery } from '../web/chart.tsx'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { pageOf, paged } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { refuseFromCode } from '../environments/code-settings.ts'
import { refuseUnaskable, refuseUnfollowable } from '../environments/followed.ts'
import { refusePromoted } from '../environments/promotion-store.ts'
import { refuseMove, refuseUnplaceable, withPlacement } from '../environments/placement.ts'
import { editQuery, environmentForm, environmentUpdateForm } from '../environments/forms.ts'
import { procfileOffer } from '../environments/procfile.ts'
import { refuseUnspread } from '../environments/processes.ts'
import { environmentIn, liveEnvironmentIn } from '../environments/own-environment.ts'
import { environmentPath, metricsPath, toMetrics } from '../environments/paths.ts'
import { environmentJson } from './json.ts'
import { jsonOf, rowsOf, viewOf } from './shown.ts'
import type { ShownDeps } from './shown.ts'
import { removeEnvironment } from '../environments/remove.ts'
import {
  insertEnvironment,
  isLast,
  listEnvironments,
  pageOfEnvironments,
  refuseLast,
  updateEnvironment,
} from '../environments/store.ts'
import type { Environment } from '../environments/store.ts'
import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import { headOf, lookOf } from '../environments/head.ts'
import { EnvironmentModal } from '../environments/environment-form.tsx'
import { EnvironmentSettings } from '../environments/settings-page.tsx'
import { EnvironmentStatus } from './environment-page.tsx'
import { Glance, glanceOf } from './glance.tsx'
import { EnvironmentsPage } from './environments-page.tsx'

export const environmentRoutes = (
  deps: RemovalDeps & StreamDeps & ShownDeps & UsageDeps & TrafficDeps & Serving,
) => {
  const { db } = deps
  const audit = auditor(db)
  const own = ownProject(deps)

  return factory
    .createApp()
    .get('/projects/:id/envs', paged(), async (c) => {
      const project = findProject(db, ownKey(c))
      const page = c.req.valid('query')
      const list = pageOf(pageOfEnvironments(db, { projectId: project.id, ...page }), page)
      const items: Awaited<ReturnType<typeof jsonOf>>[] = []
      for (const environment of clientOf(c) === 'program' ? list.items : []) {
        items.push(await jsonOf(deps, environment, project))
        await pause()
      }
      return show(c, {
        title: `${project.name}: environments`,
        page: () => <EnvironmentsPage project={project} environments={rowsOf(deps, project)} />,
        live: {},
        json: () => ({ ...list, items }),
      })
    })
    .get('/projects/:id/envs/new', (c) => show(c, newEnvironment(c, emptyDraft)))
    .post('/projects/:id/envs', own, input(environmentForm, newEnvironment), async (c) => {
      const project = findLiveProject(db, ownKey(c))
      refuseMore('environments', countEnvironments(db, project.ownerId))
      const { hostPort, domains, ...values } = withPlacement(deps, c.var.input)
      refuseUnfollowable(project, values)
      refuseUnaskable(project, values)
      const places = placesOf(deps, project.ownerId)
      if (hostPort) refuseUsedPort(deps, { port: hostPort, ...places })
      const { config } = deps
      const names = { project: project.name, environment: values.name }
      const environment = db.transaction(() => {
        const made = insertEnvironment(db, {
          ...values,
          projectId: project.id,
          hostPort: hostPort ?? freeHostPort(deps, places),
          portSet: hostPort != null,
          label: freeLabel(db, { ...names, ...config }),
        })
        refuseUnspread(made, deps.edge)
        refuseUnplaceable(deps, { environment: made })
        setHosts(db, { environmentId: made.id }, { hosts: domains ?? [], config })
        return made
      })
      if (domains || config.domain) await served(deps)
      audit(c, 'environment.created', about(environment, project))
      const json = await jsonOf(deps, environment, project)
      const to = environmentPath(environment)
      return moveOn(c, { to, created: true, said: 'Environment created.', json: () => json })
    })
    .get('/projects/:id/envs/:envId', async (c) => {
      const { project, environment } = environmentIn(deps, c)
      const view = await viewOf(deps, environment, project)
      const head = headOf(deps, view)
      const glance = clientOf(c) === 'program' ? null : await glanceOf(deps, environment)
      return show(c, {
        title: `${project.name}: ${environment.name}`,
        state: lookOf(head),
        page: () => (
          <EnvironmentFrame head={head} tab="overview">
            <EnvironmentStatus {...view} />
            {glance && <Glance environment={environment} glance={glance} />}
          </EnvironmentFrame>
        ),
        json: () => environmentJson(environment, view),
        live: { every: 10 },
      })
    })
    .get('/projects/:id/envs/:envId/edit', own, query(editQuery), (c) =>
      show(c, { ...editEnvironment(c, emptyDraft, c.req.valid('query')), live: {} }),
    )
    .put(
      '/projects/:id/envs/:envId',
      own,
      input(environmentUpdateForm, editEnvironment),
      async (c) => {
        const { project, environment: current } = liveEnvironmentIn(deps, c)
        const { hostPort, domains, ...changes } = withPlacement(deps, c.var.input)
        refuseFromCode(current, changes)
        refuseUnfollowable(project, changes)
        refuseUnaskable(project, changes)
        refuseMove(deps, current, changes.placement)
        const places = placesOf(deps, project.ownerId)
        if (hostPort) refuseUsedPort(deps, { port: hostPort, ...places })
        const { config } = deps
        const isMoved = hostPort !== undefined && hostPort !== current.hostPort
        const isRenamed = changes.name !== undefined && changes.name !== current.name
        const names = { project: project.name, environment: changes.name ?? current.name }
        const environment = db.transaction(() => {
          const changed = updateEnvironment(db, current.id, {
            ...changes,
            hostPort:
              hostPort === null && current.portSet
                ? freeHostPort(deps, places)
                : (hostPort ?? undefined),
            ...(isMoved && { portSet: hostPort !== null }),
            ...(isRenamed && { label: freeLabel(db, { ...names, ...config }) }),
          })
          if (isMoved || changes.port !== undefined || changes.processes !== undefined)
            refuseUnspread(changed, deps.edge)
          if (isMoved || changes.placement) refuseUnplaceable(deps, { environment: changed })
          if (domains !== undefined)
            setHosts(db, { environmentId: current.id }, { hosts: domains ?? [], config })
          return changed
        })
        if (domains !== undefined || isRenamed) await served(deps)
        audit(c, 'environment.changed', about(environment, project))
        const json = await jsonOf(deps, environment, project)
        const to = environmentPath(environment)
        return moveOn(c, { to, said: 'Environment saved.', json: () => json })
      },
    )
    .get('/projects/:id/envs/:envId/output', own, query(outputQuery), (c) => {
      const { project, environment } = environmentIn(deps, c)
      const head = headOf(deps, { project, environment })
      return answerOutput(c, deps, {
        source: environment,
        asked: c.req.valid('query'),
        title: `${project.name}: logs of ${environment.name}`,
        state: lookOf(head),
        live: { isCarried: true },
        drains: `/envs/${environment.id}/drains`,
        frame: (view) => (
          <EnvironmentFrame head={head} tab="logs">
            {view}
          </EnvironmentFrame>
        ),
      })
    })
    .get('/projects/:id/envs/:envId/output/stream', own, query(outputStreamQuery), (c) =>
      streamLog(c, deps, {
        log: outputOf(environmentIn(deps, c).environment),
        asked: c.req.valid('query'),
      }),
    )
    .get('/projects/:id/envs/:envId/usage', own, query(rangeQuery), (c) => {
      const { environment } = environmentIn(deps, c)
      if (clientOf(c) !== 'program') return toMetrics(c, environment)
      const { range } = c.req.valid('query')
      return c.json(workloadUsageJson(usageOf(deps, { workloadId: environment.id, range })))
    })
    .get('/projects/:id/envs/:envId/metrics', own, query(trafficQuery), async (c) => {
      const { project, environment } = environmentIn(deps, c)
      const asked = c.req.valid('query')
      const head = headOf(deps, { project, environment })
      const usage = usageOf(deps, { workloadId: environment.id, range: asked.range })
      const served = await trafficOf(deps, environment, asked)
      const path = metricsPath(environment)
      return show(c, {
        title: `${project.name}: metrics of ${environment.name}`,
        state: lookOf(head),
        page: () => (
          <EnvironmentFrame head={head} tab="metrics">
            <RangeChoice path={path} query={{ host: asked.host }} range={asked.range} />
            <div class="metrics">
              <ProcessUsage usage={usage} />
              <TrafficPanel path={path} {...served} />
            </div>
          </EnvironmentFrame>
        ),
        json: () => ({ usage: workloadUsageJson(usage), traffic: servedJson(served) }),
        live: { every: refreshEvery[asked.range] },
      })
    })
    .delete('/projects/:id/envs/:envId', async (c) => {
      const { project, environment } = environmentIn(deps, c)
      refuseDeleting('Project', project)
      refuseLast(db, environment)
      refusePromoted(db, environment)
      await refuseWithoutEngine(deps, { environmentId: environment.id })
      db.transaction(() => {
        environmentIn(deps, c) // it may be someone else's by now
        refuseLast(db, environment) // another one may have been deleted meanwhile
        refusePromoted(db, environment)
        const deletingAt = environment.deletingAt ?? new Date()
        updateEnvironment(db, environment.id, { deletingAt })
        audit(c, 'environment.deleted', about(environment, project))
      })
      const work = removeEnvironment(deps, environment)
      const removed = await within(deps.config.acceptTimeout, work)
      if (!removed) {
        const fields = { environment: environment.id }
        work.catch((error) => report('environment removal failed', error, fields))
        c.status(202)
        c.header('Location', environmentPath(environment))
      }
      const json = () => ({ removed: removed ?? [] })
      const said = removed ? 'Environment deleted.' : 'The environment is being deleted.'
      return moveOn(c, { to: `/projects/${project.id}/envs`, said, json })
    })

  function newEnvironment(c: Context, draft: Draft) {
    const project = findProject(db, ownKey(c))
    return {
      title: 'New environment',
      page: () => (
        <EnvironmentModal
          project={project}
          others={listEnvironments(db, project.id)}
          servers={deps.serverList.list()}
          draft={draft}
        />
      ),
    }
  }

  function editEnvironment(c: Context, draft: Draft, asked: z.infer<typeof editQuery> = {}) {
    const of = environmentIn(deps, c)
    const { project, environment } = of
    const offer = asked.procfile ? procfileOffer(environment) : null
    const domains = listHosts(db, { environmentId: environment.id })
    const head = headOf(deps, of)
    const others = listEnvironments(db, project.id).filter(({ id }) => id !== environment.id)
    const servers = deps.serverList.list()
    const shown = { head, domains, others, servers, isLast: isLast(db, environment), offer, draft }
    return {
      title: `${project.name}: settings of ${environment.name}`,
      state: lookOf(head),
      page: () => <EnvironmentSettings {...shown} />,
    }
  }
}

const about = ({ id, name }: Environment, project: Project) => ({
  object: { kind: 'environment' as const, id, name: `${project.name} ${name}` },
})
