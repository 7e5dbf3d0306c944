import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import { headOf, lookOf } from '../environments/head.ts'
import type { HeadDeps } from '../environments/head.ts'
import {
  checkEnvironment,
  liveEnvironment,
  ownEnvironment,
} from '../environments/own-environment.ts'
import type { Environment } from '../environments/store.ts'
import { getJob } from '../jobs/store.ts'
import { answerJobLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { jobLogQuery, shownQuery } from '../logs/forms.ts'
import type { ShownQuery } from '../logs/forms.ts'
import { lastLinesOf } from '../logs/read-log.ts'
import { AppError } from '../platform/errors.ts'
import { clientOf, isWebSocket } from '../web/client.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { firstPage, pageOf, paged } from '../web/paging.ts'
import type { Page } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { attach, refuseEnded } from './attach.ts'
import type { AttachDeps } from './attach.ts'
import { runJson } from './json.ts'
import { RunPage } from './run-page.tsx'
import { runPath, RunsPage } from './runs-page.tsx'
import { cancelRun, findImage, runForm, startRun } from './start.ts'
import { findRun, getStatus, isEnded, logOf, pageOfRuns } from './store.ts'
import type { Run } from './store.ts'

/** One-off commands in the live image: start, view, attach, cancel. A stopped app can run them, too. */
export const runRoutes = (deps: AttachDeps & StreamDeps & HeadDeps) => {
  const { db } = deps
  const audit = auditor(db)
  const ownFirst = checkEnvironment(deps)

  return factory
    .createApp()
    .get('/envs/:envId/runs', paged(), async (c) =>
      show(c, await runsView(c, emptyDraft, c.req.valid('query'))),
    )
    .post(
      '/envs/:envId/runs',
      ownFirst,
      input(runForm, (c, draft) => runsView(c, draft, firstPage)),
      async (c) => {
        const { environment, project } = liveEnvironment(deps, c)
        const asked = { environment, project, startedBy: userOf(c).email, input: c.var.input }
        const run = await startRun(deps, asked)
        audit(c, 'run.started', about(c, run))
        const json = () => runJson(run)
        return moveOn(c, { to: runPath(run), created: true, said: 'Command queued.', json })
      },
    )
    .get('/envs/:envId/runs/:id', query(shownQuery), (c) => showRun(c, c.req.valid('query')))
    .get('/envs/:envId/runs/:id/logs', ownFirst, query(jobLogQuery), (c) => {
      const { run } = find(c)
      return answerJobLog(c, deps, {
        log: logOf(run),
        name: `run-${run.id}.log`,
        asked: c.req.valid('query'),
        statuses: { now: () => getStatus(db, run.id), isEnd: isEnded },
      })
    })
    .get('/envs/:envId/runs/:id/attach', (c) => {
      const { run } = find(c)
      if (isWebSocket(c)) return attach(c, deps, { run, name: about(c, run).object.name })
      refuseEnded(run)
      // a page that can't connect shows the reason
      deps.streams.enter(userOf(c).id, { isAllowed: () => true, end() {} })()
      return showRun(c)
    })
    .post('/envs/:envId/runs/:id/cancel', async (c) => {
      const { run } = find(c)
      const to = runPath(run)
      const work = cancelRun(deps, { run, by: userOf(c).email })
      await awaitOrAccept(c, work, { acceptTimeout: deps.config.acceptTimeout, at: to })
      audit(c, 'run.cancelled', about(c, run))
      const said = 'The command is being cancelled.'
      return moveOn(c, { to, said, json: () => runJson(find(c).run) })
    })

  async function runsView(c: Context, draft: Draft, page: Page) {
    const { environment, project } = ownEnvironment(deps, c)
    const list = pageOf(pageOfRuns(db, { environmentId: environment.id, ...page }), page)
    const refusal = clientOf(c) === 'program' ? null : await whyNone(environment)
    const head = headOf(deps, { project, environment })
    return {
      title: `${project.name}: runs in ${environment.name}`,
      state: lookOf(head),
      page: () => <RunsPage {...{ head, draft, refusal, ...list }} />,
      json: () => ({ ...list, items: list.items.map(runJson) }),
      live: {},
    }
  }

  /** Why nothing can be run; null when it can, or when the engine is unreachable. */
  function whyNone(environment: Environment) {
    return findImage(deps, environment).then(
      () => null,
      (error) => (error instanceof AppError ? error.message : null),
    )
  }

  async function showRun(c: Context, chosen: ShownQuery = {}) {
    const { run, environment, project } = find(c)
    const log = await lastLinesOf(deps, logOf(run), chosen)
    return show(c, {
      title: `${project.name}: a run in ${environment.name}`,
      page: () => (
        <RunPage
          {...{ run, environment, project, log }}
          isCancelling={getJob(db, run.id)?.cancelRequested === true}
        />
      ),
      json: () => runJson(run),
      live: { isCarried: !run.attach && !isEnded(run.status) },
    })
  }

  function find(c: Context) {
    const { environment, project } = ownEnvironment(deps, c)
    const run = findRun(db, { id: c.req.param('id')!, environmentId: environment.id })
    return { run, environment, project }
  }

  function about(c: Context, { id }: Run) {
    const { environment, project } = ownEnvironment(deps, c)
    return { object: { kind: 'run' as const, id, name: `${project.name} ${environment.name}` } }
  }
}
