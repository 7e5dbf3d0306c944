import type { Context } from 'hono'
import type { Action } from '../audit/actions.ts'
import { auditor } from '../audit/record.ts'
import { liveEnvironment } from '../environments/own-environment.ts'
import { environmentPath } from '../environments/paths.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { factory } from '../web/factory.ts'
import { refuseWithoutEngine } from '../runtime/remove.ts'
import { clientOf, pageBefore } from '../web/client.ts'
import { awaitOrAccept, moveOn } from '../web/respond.tsx'
import type { AppJob } from '../environments/app-steps.ts'
import { cancelStarts, insertAppJob } from './app-jobs.ts'
import type { AppJobDeps } from './app-jobs.ts'
import { jsonOf } from './shown.ts'
import type { ShownDeps } from './shown.ts'

/** Those that users begin. */
type Act = Exclude<AppJob, 'relocate-app'>

const words: Record<Act, string> = {
  'start-app': 'Start',
  'restart-app': 'Restart',
  'stop-app': 'Stop',
}

/** Start, stop and restart of everything an environment runs. */
export const actRoutes = (deps: AppJobDeps & ShownDeps & { jobs: Jobs }) => {
  const { db, jobs } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .post('/envs/:envId/start', (c) => act(c, 'environment.started', 'start-app'))
    .post('/envs/:envId/restart', (c) => act(c, 'environment.restarted', 'restart-app'))
    .post('/envs/:envId/stop', async (c) => {
      await cancelStarts(deps, liveEnvironment(deps, c).environment)
      return act(c, 'environment.stopped', 'stop-app')
    })

  async function act(c: Context, action: Action, kind: Act) {
    await refuseWithoutEngine(deps, { environmentId: liveEnvironment(deps, c).environment.id })
    const { environment, project } = liveEnvironment(deps, c)
    const { id, name } = environment
    const job = db.transaction(() => {
      const object = { kind: 'environment', id, name: `${project.name} ${name}` } as const
      audit(c, action, { object })
      return insertAppJob(deps, { id, name, ownerId: project.ownerId }, kind)
    })
    jobs.wake()
    const to = environmentPath(environment)
    // a program waits for the end, for a while; a browser shows it on the page
    if (clientOf(c) === 'program')
      await awaitOrAccept(c, jobs.ended(job.id), {
        acceptTimeout: deps.config.acceptTimeout,
        at: to,
      })
    const json = await jsonOf(deps, liveEnvironment(deps, c).environment, project)
    const from = pageBefore(c, deps.config)
    const isItsPage = from?.startsWith(`/envs/${id}/`) || from?.startsWith(`${to}/`)
    return moveOn(c, {
      to: isItsPage ? from! : to,
      said: `${words[kind]} of ${name} queued.`,
      json: () => json,
    })
  }
}
