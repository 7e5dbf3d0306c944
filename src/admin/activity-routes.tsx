import type { Context } from 'hono'
import { findUser } from '../accounts/store.ts'
import { auditor } from '../audit/record.ts'
import type { Occurrence } from '../audit/record.ts'
import { cancelAppJobs } from '../apps/app-jobs.ts'
import type { Config } from '../config.ts'
import type { CleanUps } from '../containers/clean-up/clean-ups.ts'
import { cancelDeployment } from '../deployments/cancel.ts'
import type { TriggerDeps } from '../deployments/trigger.ts'
import { getJob, isEnded } from '../deployments/store.ts'
import { getEnvironmentIn } from '../environments/store.ts'
import { notFound } from '../platform/errors.ts'
import { cancelRun } from '../runs/start.ts'
import { getRunIn, isEnded as isRunEnded } from '../runs/store.ts'
import { cancelServiceJobs } from '../services/service-jobs.ts'
import { getService } from '../services/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import type { User } from '../web/factory.ts'
import { requireAdmin, userOf } from '../web/user-of.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import { settingsView, SettingsList } from '../web/settings-frame.tsx'
import { Badge, RunBadge, StatusBadge } from '../web/status-badge.tsx'
import { EmptyState } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import type { AppStep } from '../environments/app-steps.ts'
import { stepOfJob } from '../environments/app-steps.ts'
import type { Db } from '../db/index.ts'
import { environmentPath } from '../environments/paths.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { runPath } from '../runs/runs-page.tsx'
import { servicePath } from '../services/own-service.ts'
import { listJobs } from './store.ts'

/** Queued and running jobs of all users. Admins may cancel them. */
export const activityRoutes = (deps: TriggerDeps & { config: Config; cleanUps: CleanUps }) => {
  const { db, cleanUps } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(activityPath, requireAdmin, (c) => show(c, view(c)))
    .post(`${activityPath}/deployments/:id/cancel`, requireAdmin, (c) => {
      const found = getJob(db, c.req.param('id'))
      if (!found || isEnded(found.deployment.status)) throw notFound('deployment')
      const { deployment, project } = found
      const object = { kind: 'deployment', id: deployment.id, name: project.name } as const
      const work = cancelDeployment(deps, { deployment, by: userOf(c).email })
      return cancel(c, work, { action: 'deployment.cancelled', object, ownerId: project.ownerId })
    })
    .post(`${activityPath}/environments/:id/cancel`, requireAdmin, (c) => {
      const found = getEnvironmentIn(db, c.req.param('id'))
      if (!found) throw notFound('environment')
      const { environment, project } = found
      const name = `${project.name} ${environment.name}`
      const object = { kind: 'environment', id: environment.id, name } as const
      const work = cancelAppJobs(deps, { environment, by: userOf(c).email })
      return cancel(c, work, { action: 'environment.cancelled', object, ownerId: project.ownerId })
    })
    .post(`${activityPath}/runs/:id/cancel`, requireAdmin, (c) => {
      const found = getRunIn(db, c.req.param('id'))
      if (!found || isRunEnded(found.run.status)) throw notFound('run')
      const { run, environment, project } = found
      const object = {
        kind: 'run',
        id: run.id,
        name: `${project.name} ${environment.name}`,
      } as const
      const work = cancelRun(deps, { run, by: userOf(c).email })
      return cancel(c, work, { action: 'run.cancelled', object, ownerId: project.ownerId })
    })
    .post(`${activityPath}/services/:id/cancel`, requireAdmin, (c) => {
      const service = getService(db, c.req.param('id'))
      if (!service) throw notFound('service')
      const { id, name, ownerId } = service
      const object = { kind: 'service', id, name } as const
      const work = cancelServiceJobs(deps, { service, by: userOf(c).email })
      return cancel(c, work, { action: 'service.cancelled', object, ownerId })
    })
    .post(`${activityPath}/clean-up/cancel`, requireAdmin, (c) =>
      cancel(c, cleanUps.cancel(userOf(c).email), { action: 'clean_up.cancelled' }),
    )

  async function cancel(
    c: Context,
    work: Promise<unknown>,
    { action, object, ownerId }: Pick<Occurrence, 'action' | 'object'> & { ownerId?: string },
  ) {
    await awaitOrAccept(c, work, { acceptTimeout: deps.config.acceptTimeout, at: activityPath })
    const details = ownerId ? { owner: findUser(db, ownerId).email } : {}
    audit(c, action, { object, details })
    if (clientOf(c) === 'partial') return show(c, view(c))
    return moveOn(c, { to: activityPath, json })
  }

  function view(c: Context) {
    const items = listActivity(db)
    const list = () => (
      <SettingsList
        id="activity"
        aria-label="Activity"
        isLive
        about="Builds, deployments, runs and changes of all users that are queued or running."
        rows={items.map((item) => (
          <Row item={item} user={userOf(c)} />
        ))}
        empty={
          <EmptyState title="Nothing is running">
            <p>
              Deployments, runs, starts of environments and services, and clean-ups appear here
              while they are queued or running.
            </p>
          </EmptyState>
        }
      />
    )
    return settingsView(c, { path: activityPath, title: 'Activity', list, json, live: {} })
  }

  function json() {
    return { items: listActivity(db).map(({ path: _, ...item }) => item), nextCursor: null }
  }
}

const activityPath = '/settings/activity'

const Row = ({ item, user }: { item: Activity; user: User }) => (
  <li class="row deployment-row" id={`activity-${item.id ?? item.kind}`}>
    <State item={item} />
    <div class="row-main">
      <strong>
        {item.path && item.owner.id === user.id ? (
          <a class="row-link" href={item.path}>
            <bdi>{item.name}</bdi>
          </a>
        ) : (
          <bdi>{item.name}</bdi>
        )}
      </strong>
      <p class="row-facts">
        <span>{titles[item.kind]}</span>
        <bdi>{item.owner.email}</bdi>
      </p>
    </div>
    <div class="row-actions">
      <PostForm action={cancelPath(item)} replaces="#activity" hx-swap="outerMorph">
        <Button variant="outline" small aria-label={`Cancel ${item.name} of ${item.owner.email}`}>
          Cancel
        </Button>
      </PostForm>
    </div>
    <p class="row-end">
      <Ago at={item.since} />
    </p>
  </li>
)

const State = ({ item }: { item: Activity }) => {
  if (item.kind === 'run') return <RunBadge status={item.status} />
  if (item.kind !== 'environment' && item.kind !== 'clean-up')
    return <StatusBadge status={item.status} />
  const word = item.kind === 'environment' ? words[item.status] : 'Cleaning up'
  return <Badge word={word} tone="active" icon="loader-circle" />
}

const words: Record<AppStep, string> = {
  starting: 'Starting',
  restarting: 'Restarting',
  stopping: 'Stopping',
  moving: 'Moving to another server',
}

const titles: Record<Activity['kind'], string> = {
  deployment: 'Deployment',
  environment: 'Environment',
  run: 'Run',
  service: 'Service',
  'clean-up': 'Docker',
}

const cancelPath = ({ kind, id }: Activity) =>
  kind === 'clean-up' ? `${activityPath}/clean-up/cancel` : `${activityPath}/${kind}s/${id}/cancel`

type Activity = NonNullable<ReturnType<typeof activityOf>>

/** Jobs of all users: deployments first, running before queued. */
const listActivity = (db: Db): Activity[] =>
  listJobs(db)
    .flatMap((row) => activityOf(row) ?? [])
    .toSorted((a, b) => rankOf(a) - rankOf(b))

/** Null if its subject was deleted meanwhile. `path` is that of its page, which only its owner may see. */
function activityOf(row: ReturnType<typeof listJobs>[number]) {
  const { job, deployment, project, environment, run, service } = row
  const owner = row.owner ?? { id: null, email: 'the daily clean-up' }
  const at = { owner, since: job.createdAt }
  if (job.kind === 'clean-up') {
    const none = { id: null, path: null }
    return { ...at, ...none, kind: job.kind, name: 'Clean-up', status: 'running' as const }
  }
  if (project && environment) {
    const { id } = job
    const within = { ...at, name: `${project.name}, ${environment.name}` }
    if (deployment)
      return {
        ...within,
        kind: 'deployment' as const,
        id,
        status: deployment.status,
        path: deploymentPath({ projectId: project.id, id }),
      }
    // without its command, which may contain the owner's secrets
    if (run) return { ...within, kind: 'run' as const, id, status: run.status, path: runPath(run) }
    // a start, restart or stop of the whole app
    const status = stepOfJob(job)
    const path = environmentPath(environment)
    return status && { ...within, kind: 'environment' as const, id: environment.id, status, path }
  }
  if (!service) return null
  const id = job.subjectId
  return { ...at, kind: 'service' as const, id, ...service, path: servicePath({ id }) }
}

const rankOf = ({ kind, status }: Activity) =>
  ['deployment', 'environment', 'run', 'service', 'clean-up'].indexOf(kind) +
  (status === 'pending' ? 0.5 : 0)
