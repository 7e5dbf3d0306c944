import type { Context } from 'hono'
import { refuseUngiven } from '../accounts/token-scope.ts'
import { auditor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Docker } from '../docker/index.ts'
import { urlOf } from '../environments/json.ts'
import { findEnvironment, listEnvironments } from '../environments/store.ts'
import { jobLogQuery } from '../logs/forms.ts'
import type { Masks } from '../logs/masks.ts'
import { DeploymentList, deploymentPath } from '../projects/deployment-list.tsx'
import { getJob } from '../jobs/store.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { projectJson } from '../projects/json.ts'
import { placesOf } from '../projects/places.ts'
import { ProjectFrame } from '../projects/project-frame.tsx'
import { findProject } from '../projects/store.ts'
import type { Project } from '../projects/store.ts'
import { EmptyState, MoreLink } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { pageOf, paged } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { endsWithin } from '../web/within.ts'
import { cancelDeployment } from './cancel.ts'
import { DeploymentPage, DeploymentStatus } from './deployment-page.tsx'
import { deploymentJson } from './json.ts'
import { answerJobLog, tail } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { listLastLines } from '../logs/read-log.ts'
import { getExtent } from '../logs/store.ts'
import { listEnvironmentStates } from './overview-store.ts'
import { ProjectOverview } from './overview.tsx'
import { rollBack } from './rollback.ts'
import { findDeployment, getStatus, isEnded, listDeployments, logOf } from './store.ts'
import type { Deployment } from './store.ts'
import { refuseWithoutImage, refuseWithoutRoom, triggerDeployment, triggerForm } from './trigger.ts'
import type { TriggerDeps } from './trigger.ts'

/** What a token must be given to deploy other code than the project's: what would change it for good. */
const toRepoint = { method: 'PUT', path: '/projects/:id' }

/** What a project runs, and its deployments: start, look at, go back to, cancel. */
export const deploymentRoutes = (
  deps: TriggerDeps & StreamDeps & { config: Config; docker: Docker; masks: Masks },
) => {
  const { db, logDb, config } = deps
  const audit = auditor(db)
  const isOwn = ownProject(deps)
  const trigger = input(triggerForm(config))

  return factory
    .createApp()
    .get('/projects/:id', (c) => {
      const project = findProject(db, ownKey(c))
      return show(c, {
        title: project.name,
        page: () => overview(project),
        json: () => projectJson(project),
      })
    })
    .get('/projects/:id/deployments', paged(), (c) => {
      const project = findProject(db, ownKey(c))
      const page = c.req.valid('query')
      const rows = listDeployments(db, { projectId: project.id, ...page })
      const list = pageOf(
        rows.map((row) => ({ ...row, id: row.deployment.id })),
        page,
      )
      return show(c, {
        title: `${project.name}: deployments`,
        page: () => (
          <ProjectFrame
            project={project}
            tab="deployments"
            environments={listEnvironments(db, project.id)}
          >
            {list.items.length === 0 ? (
              <EmptyState title="Nothing deployed yet">
                <p>Press Deploy, and watch the repository become a running app.</p>
              </EmptyState>
            ) : (
              <DeploymentList items={list.items} />
            )}
            <MoreLink href={`/projects/${project.id}/deployments`} nextCursor={list.nextCursor} />
          </ProjectFrame>
        ),
        json: () => ({
          items: list.items.map(({ deployment }) => deploymentJson(deployment)),
          nextCursor: list.nextCursor,
        }),
      })
    })
    .post('/projects/:id/deployments', isOwn, trigger, (c) => start(c, c.var.input))
    .post('/projects/:id/deploy', isOwn, trigger, (c) => start(c, c.var.input))
    .get('/projects/:id/deployments/:deploymentId', async (c) => {
      const { project, deployment, environment, isCancelling } = own(c)
      const lines = await listLastLines(deps, logOf(deployment), tail)
      const extent = getExtent(logDb, logOf(deployment))
      return show(c, {
        title: `${project.name}: deployment to ${environment.name}`,
        page: () => (
          <DeploymentPage {...{ project, environment, deployment, isCancelling, extent, lines }} />
        ),
        json: () => deploymentJson(deployment),
      })
    })
    .get('/projects/:id/deployments/:deploymentId/status', (c) => {
      const { project, deployment, environment, isCancelling } = own(c)
      return show(c, {
        title: `${project.name}: deployment to ${environment.name}`,
        page: () => <DeploymentStatus {...{ project, environment, deployment, isCancelling }} />,
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
      })
    })
    .post('/projects/:id/deployments/:deploymentId/rollback', async (c) => {
      const { project, deployment: target } = own(c)
      await refuseWithoutRoom(deps, { project, environmentId: target.environmentId })
      const deployment = rollBack(deps, { project, target, triggeredBy: userOf(c).email })
      audit(c, 'deployment.rolled_back', about(deployment, project))
      return created(c, deployment)
    })
    .post('/projects/:id/deployments/:deploymentId/cancel', async (c) => {
      const { project, deployment } = own(c)
      const by = userOf(c).email
      const ended = await endsWithin(
        deps.config.patience,
        cancelDeployment(deps, { deployment, by }),
      )
      audit(c, 'deployment.cancelled', about(deployment, project))
      const to = deploymentPath(deployment)
      if (!ended) {
        c.status(202)
        c.header('Location', to)
      }
      return moveOn(c, {
        to,
        json: () => deploymentJson(own(c).deployment),
      })
    })

  /** Its environments with what runs in them. */
  function overview(project: Project) {
    const places = placesOf(deps, project.ownerId)
    const states = listEnvironmentStates(db, [project.id])
    const environments = states.map(({ environment }) => environment)
    const shown = states.map((row) => ({ ...row, url: urlOf(row.environment, places) }))
    const recent = listDeployments(db, { projectId: project.id, limit: 5 })
    return (
      <ProjectFrame project={project} tab="overview" environments={environments}>
        <ProjectOverview {...{ project, recent, note: places.note, environments: shown }} />
      </ProjectFrame>
    )
  }

  async function start(c: Context, asked: ReturnType<typeof triggerForm>['_output']) {
    const project = findProject(db, ownKey(c))
    const triggeredBy = userOf(c).email
    const { token } = (c as Context<Env>).var
    if (token && asked.repositoryUrl && asked.repositoryUrl !== project.repositoryUrl)
      refuseUngiven(token, toRepoint) // other code would run with the environment's secrets
    await refuseWithoutRoom(deps, { project, environmentId: asked.environmentId })
    if (asked.reuseImage) await refuseWithoutImage(deps, { project, ...asked })
    const trigger = token ? 'api' : 'manual'
    const deployment = triggerDeployment(deps, { ...asked, project, trigger, triggeredBy })
    audit(c, 'deployment.triggered', about(deployment, project))
    return created(c, deployment)
  }

  function created(c: Context, deployment: Deployment) {
    const json = () => deploymentJson(deployment)
    return moveOn(c, { to: deploymentPath(deployment), created: true, json })
  }

  function own(c: Context) {
    const project = findProject(db, ownKey(c))
    const id = c.req.param('deploymentId')!
    const deployment = findDeployment(db, { id, projectId: project.id })
    const key = { id: deployment.environmentId, projectId: project.id }
    const isCancelling = getJob(db, id)?.cancelRequested === true
    return { project, deployment, environment: findEnvironment(db, key), isCancelling }
  }
}

const about = ({ id }: Deployment, { name }: Project) => ({
  object: { kind: 'deployment' as const, id, name },
})
