import type { Context } from 'hono'
import { findUser } from '../accounts/user-store.ts'
import { auditor } from '../audit/record.ts'
import { cancelDeployment } from '../deployments/cancel.ts'
import { AppError, notFound } from '../platform/errors.ts'
import { report } from '../platform/journal.ts'
import { getService } from '../services/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { requireAdmin } from '../web/require-admin.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { endsWithin, patience } from '../web/within.ts'
import { listActivity } from './activity.ts'
import type { WorkDeps } from './cancel-work.ts'
import { ActivityList, ActivityPage, activityPath } from './activity-page.tsx'
import { getUnended } from './store.ts'

/** What is at work over all users, for admins, who may cancel each of it. */
export const activityRoutes = (deps: WorkDeps) => {
  const { db, runner, pruneRuns } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get(activityPath, requireAdmin, (c) => show(c, view(c)))
    .post(`${activityPath}/deployments/:id/cancel`, requireAdmin, (c) => {
      const found = getUnended(db, c.req.param('id'))
      if (!found) throw notFound('deployment')
      const { deployment, project, owner } = found
      return cancel(c, cancelDeployment(deps, { deployment, by: userOf(c).email }), () =>
        audit(c, 'deployment.cancelled', {
          object: { kind: 'deployment', id: deployment.id, name: project.name },
          details: { owner: owner.email },
        }),
      )
    })
    .post(`${activityPath}/services/:id/cancel`, requireAdmin, (c) => {
      const service = getService(db, c.req.param('id'))
      if (!service) throw notFound('service')
      const { id, name, ownerId } = service
      if (!runner.isBusy(id)) throw nothingToCancel(name)
      return cancel(c, runner.cancel(id), () =>
        audit(c, 'service.cancelled', {
          object: { kind: 'service', id, name },
          details: { owner: findUser(db, ownerId).email },
        }),
      )
    })
    .post(`${activityPath}/clean-up/cancel`, requireAdmin, (c) => {
      if (!pruneRuns.isBusy) throw nothingToCancel('the engine')
      return cancel(c, pruneRuns.cancel(), () => audit(c, 'clean_up.cancelled'))
    })

  async function cancel(c: Context, work: Promise<unknown>, done: () => void) {
    const ended = await endsWithin(patience, work)
    done()
    if (!ended) {
      c.status(202)
      c.header('Location', activityPath)
      work.catch((error) => report('a cancel failed', error, { path: c.req.path }))
    }
    if (clientOf(c) === 'partial') return show(c, view(c))
    return moveOn(c, { to: activityPath, json })
  }

  function view(c: Context) {
    const items = listActivity(deps)
    return {
      title: 'Activity',
      page: () => <ActivityPage user={userOf(c)} items={items} />,
      partial: () => <ActivityList items={items} />,
      json,
    }
  }

  function json() {
    return { items: listActivity(deps), nextCursor: null }
  }
}

const nothingToCancel = (what: string) =>
  new AppError('conflict', `Nothing is under way for ${what}. There is nothing to cancel.`)
