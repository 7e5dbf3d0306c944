import type { JSX } from 'hono/jsx/jsx-runtime'
import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { hasShare } from '../db/watch-schema.ts'
import type { Config } from '../config.ts'
import type { Docker } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import { reachedAt } from '../environments/json.ts'
import { listPromotedTo } from '../environments/promotion-store.ts'
import { getNextFreeze } from '../environments/freeze-store.ts'
import { getPlanned } from '../environments/planned-store.ts'
import { listRests } from '../environments/share.ts'
import { findEnvironment } from '../environments/store.ts'
import { jobLogQuery, shownQuery } from '../logs/forms.ts'
import type { Masks } from '../logs/masks.ts'
import { deploymentPath, deploymentTitle } from '../projects/deployment-list.tsx'
import { getJob } from '../jobs/store.ts'
import type { Scheduler } from '../platform/scheduler.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { projectJson } from '../projects/json.ts'
import { placesOf } from '../addresses/places.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import type { Env } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { query } from '../web/query.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import type { View } from '../web/respond.tsx'
import { lookOfStatus } from '../web/status-badge.tsx'
import { userOf } from '../web/user-of.ts'
import { cancelDeployment } from './cancel.ts'
import { compareWithLive } from './compare.ts'
import { ComparePage } from './compare-page.tsx'
import { DeploymentPage, DeploymentStatus } from './deployment-page.tsx'
import { askingForNote, checkFreeze, passedIn } from './freeze-dialog.tsx'
import { deploymentJson } from './json.ts'
import { answerJobLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { followGroups, logView } from './log-view.tsx'
import type { LogViewDeps } from './log-view.tsx'
import { getOrigin, listEnvironmentStates, listKept } from './overview-store.ts'
import { ProjectOverview } from './overview.tsx'
import { planner, refuseOtherCode } from './planned-routes.tsx'
import { previewRollback } from './preview.ts'
import { RollbackDialog } from './rollback-dialog.tsx'
import { refsPath } from './ref-routes.tsx'
import { rollBack, rollbackForm } from './rollback.ts'
import { refuseShare, takeBack } from './share.ts'
import { shareOf } from './share-fields.ts'
import { askShare } from './share-routes.tsx'
import { findDeployment, getStatus, isEnded, listDeployments, logOf } from './store.ts'
import type { Deployment } from './store.ts'
import { refuseWithoutImage, refuseWithoutRoom, triggerDeployment, withoutRef } from './trigger.ts'
import { triggerForm } from './trigger-forms.ts'
import type { TriggerDeps } from './trigger.ts'
import { traceOf } from './trace.ts'
import { TracePage } from './trace-page.tsx'
import { watchView, withCurrentWatch } from './watch/view.ts'
import type { ViewDeps } from './watch/view.ts'
import type { Secrets } from '../platform/secrets.ts'
import type { Watches } from './watch/watches.ts'

type TriggerRequest = ReturnType<typeof triggerForm>['_output']

const rollback = '/projects/:id/deployments/:deploymentId/rollback'

export const deploymentRoutes = (
  deps: TriggerDeps &
    StreamDeps &
    LogViewDeps &
    ViewDeps & {
      scheduler: Scheduler
      config: Config
      docker: Docker
      masks: Masks
      secrets: Secrets
      watches: Watches
      edge: Pick<Edge, 'isOn' | 'mode'>
    },
  /** Renders a project's connections for its page. */
  mapOf: (project: Project) => JSX.Element | null,
) => {
  const { db, config } = deps
  const audit = auditor(db)
  const plan = planner(deps)
  const isOwn = ownProject(deps)
  const trigger = input(triggerForm(config), askShareAgain)

  return factory
    .createApp()
    .get('/projects/:id', (c) => {
      const project = findProject(db, ownKey(c))
      return show(c, {
        title: project.name,
        page: () => overview(project),
        json: () => projectJson(project),
        live: {},
      })
    })
    .post('/projects/:id/deployments', isOwn, trigger, (c) => startOrAsk(c, c.var.input))
    .post('/projects/:id/deploy', isOwn, trigger, (c) => startOrAsk(c, c.var.input))
    .get('/projects/:id/deployments/:deploymentId', query(shownQuery), async (c) => {
      const view = await viewOf(c)
      const { project, deployment, environment } = view
      const log = await logView(c, deps, { deployment, chosen: c.req.valid('query') })
      return show(c, {
        title: deploymentTitle(deployment, { project, environment }),
        state: lookOfStatus(deployment.status, view.rest),
        page: () => <DeploymentPage {...view} log={log} />,
        json: () => deploymentJson(deployment),
        live: {
          isCarried: !isEnded(deployment.status),
          ...(deployment.watchUntil && { every: 2 }),
        },
      })
    })
    .get('/projects/:id/deployments/:deploymentId/status', async (c) => {
      const view = await viewOf(c)
      const { project, deployment, environment } = view
      return show(c, {
        title: deploymentTitle(deployment, { project, environment }),
        page: () => <DeploymentStatus {...view} quote={[]} />,
        json: () => deploymentJson(deployment),
      })
    })
    .get('/projects/:id/deployments/:deploymentId/logs', isOwn, query(jobLogQuery), (c) => {
      const { deployment } = own(c)
      const { id } = deployment
      return answerJobLog(c, deps, {
        log: logOf(deployment),
        name: `deployment-${id}.log`,
        asked: c.req.valid('query'),
        statuses: { now: () => getStatus(db, id), isEnd: isEnded },
        parts: (from) => followGroups(deps, deployment, from),
      })
    })
    .get('/projects/:id/deployments/:deploymentId/compare', async (c) => {
      const { project, environment, deployment: target } = own(c)
      const comparison = await compareWithLive(deps, { environment, target })
      return show(c, {
        title: `Compare #${target.number} · ${project.name} / ${environment.name}`,
        page: () => <ComparePage {...{ project, environment, target, comparison }} />,
        json: () => comparison,
      })
    })
    .get('/projects/:id/deployments/:deploymentId/trace', (c) => {
      const { project, environment, deployment } = own(c)
      const trace = traceOf(db, deployment)
      return show(c, {
        title: `Where the time went: ${deploymentTitle(deployment, { project, environment })}`,
        page: () => <TracePage {...{ project, environment, deployment, trace }} />,
        json: () => trace,
        live: { isCarried: !isEnded(deployment.status) },
      })
    })
    .get(rollback, async (c) => show(c, await askRollback(c, emptyDraft)))
    .post(rollback, isOwn, input(rollbackForm, askRollback), async (c) => {
      const { project, deployment: target } = own(c)
      await refuseWithoutRoom(deps, { project, environmentId: target.environmentId })
      const variables = c.var.input.variables ?? 'today'
      const triggeredBy = userOf(c).email
      const deployment = rollBack(deps, { project, target, triggeredBy, variables })
      const details = {
        to: `#${target.number}`,
        variables: variables === 'release' ? 'from that deployment' : 'current',
      }
      audit(c, 'deployment.rolled_back', { ...about(deployment, project), details })
      return created(c, deployment)
    })
    .post('/projects/:id/deployments/:deploymentId/cancel', async (c) => {
      const { project, deployment } = own(c)
      const by = userOf(c).email
      const to = deploymentPath(deployment)
      const { acceptTimeout } = deps.config
      const work = hasShare(deployment)
        ? takeBack(deps, deployment, by)
        : cancelDeployment(deps, { deployment, by })
      await awaitOrAccept(c, work, { acceptTimeout, at: to })
      audit(c, 'deployment.cancelled', about(deployment, project))
      const said = `Deployment #${deployment.number} is being cancelled.`
      return moveOn(c, { to, said, json: () => deploymentJson(own(c).deployment) })
    })

  async function askRollback(c: Context, draft: Draft): Promise<View> {
    const { project, environment, deployment: target } = own(c)
    const preview = await previewRollback(deps, { project, environment, target })
    return {
      title: `Roll back ${project.name} ${environment.name}`,
      page: () => <RollbackDialog {...{ environment, target, preview, draft }} />,
      json: () => preview,
    }
  }

  function overview(project: Project) {
    const places = placesOf(deps, project.ownerId)
    const states = listEnvironmentStates(db, [project.id])
    const environments = states.map(({ environment }) => environment)
    const kept = listKept(
      db,
      environments.map(({ id }) => id),
    )
    const shown = states.map((row) => ({
      ...row,
      kept: kept.get(row.environment.id),
      url: reachedAt(deps, { ...row, ownerId: project.ownerId, published: row.current?.url }),
      planned: getPlanned(db, row.environment.id),
      freeze: getNextFreeze(db, row.environment.id),
    }))
    const recent = listDeployments(db, { projectId: project.id, limit: 5 })
    return (
      <ProjectFrame project={project} tab="overview" environments={environments}>
        <ProjectOverview
          {...{ project, recent, note: places.note, environments: shown }}
          rests={listRests(db, recent)}
        />
        {mapOf(project)}
      </ProjectFrame>
    )
  }

  /** Other deployments are started by a button alone, and the note of a freeze isn't asked for in this dialog. */
  function askShareAgain(c: Context, draft: Draft) {
    const { strategy, environment_id: environmentId } = draft.values
    return strategy === 'share' && environmentId && !('note' in draft.errors)
      ? askShare(c, deps, { environmentId, draft })
      : null
  }

  function startOrAsk(c: Context, sent: TriggerRequest) {
    return askingForNote(c, { action: c.req.path, sent }, () => start(c, sent))
  }

  async function start(c: Context, asked: TriggerRequest) {
    const project = findProject(db, ownKey(c))
    const triggeredBy = userOf(c).email
    refuseOtherCode(c, project, asked)
    const undecided =
      clientOf(c) === 'program' || asked.strategy === 'share'
        ? null
        : withoutRef(db, project, asked)
    if (undecided) return moveOn(c, { to: refsPath(undecided), json: () => null })
    if (!asked.at) checkFreeze(c, db, { project, ...asked })
    refuseShare(deps, { project, ...asked })
    await refuseWithoutRoom(deps, { project, environmentId: asked.environmentId })
    if (asked.reuseImage) await refuseWithoutImage(deps, { project, ...asked })
    const trigger = (c as Context<Env>).var.token ? 'api' : 'manual'
    const { at, zone, strategy, percent, sticky, ...version } = asked
    if (at) {
      const { reuseImage: _, ...planned } = version
      return plan(c, project, { ...planned, at, zone })
    }
    const share = shareOf({ strategy, percent, sticky })
    const deployment = triggerDeployment(deps, { ...version, share, project, trigger, triggeredBy })
    audit(c, 'deployment.triggered', {
      ...about(deployment, project),
      details: { ...passedIn(deployment), ...(share && { share: `${share.percent} %` }) },
    })
    return created(c, deployment)
  }

  function created(c: Context, deployment: Deployment) {
    const json = () => deploymentJson(deployment)
    const said = `Deployment #${deployment.number} queued.`
    return moveOn(c, { to: deploymentPath(deployment), created: true, said, json })
  }

  function own(c: Context) {
    const project = findProject(db, ownKey(c))
    const id = c.req.param('deploymentId')!
    const deployment = findDeployment(db, { id, projectId: project.id })
    const key = { id: deployment.environmentId, projectId: project.id }
    const isCancelling = getJob(db, id)?.cancelRequested === true
    return { project, deployment, environment: findEnvironment(db, key), isCancelling }
  }

  /** Adds the app's current address. */
  async function viewOf(c: Context) {
    const of = own(c)
    const { project, environment } = of
    const deployment = await withCurrentWatch(deps, of.deployment)
    const key = { environment, ownerId: project.ownerId, published: deployment.url }
    return {
      ...{ ...of, deployment },
      url: reachedAt(deps, key),
      origin: getOrigin(db, deployment),
      rest: listRests(db, [of]).get(deployment.id),
      promotedTo: listPromotedTo(db, environment.id),
      watch: watchView(deps, deployment),
    }
  }
}

const about = ({ id }: Deployment, { name }: Project) => ({
  object: { kind: 'deployment' as const, id, name },
})
