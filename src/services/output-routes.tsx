import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { answerJobLog, answerOutput, outputOf, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { jobLogQuery, logQuery, logStreamQuery } from '../logs/forms.ts'
import { PageHead } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { lastLogOf, statusesOf } from './job-log.ts'
import { checkOwner, ownService, servicePath, servicePattern } from './own-service.ts'

/** What the containers of an instance wrote, over all its changes, and what its last job did. */
export const serviceOutputRoutes = (deps: StreamDeps & { db: Db; config: Config }) =>
  factory
    .createApp()
    .get(`${servicePattern}/output`, checkOwner(deps), query(logQuery), (c) => {
      const source = ownService(deps, c)
      const crumbs = [
        { href: '/services', name: 'Services' },
        { href: servicePath(source), name: source.name },
      ]
      return answerOutput(c, deps, {
        source,
        asked: c.req.valid('query'),
        title: `Logs of ${source.name}`,
        frame: (view) => (
          <>
            <PageHead title="Logs" crumbs={crumbs} />
            {view}
          </>
        ),
      })
    })
    .get(`${servicePattern}/output/stream`, checkOwner(deps), query(logStreamQuery), (c) =>
      streamLog(c, deps, { log: outputOf(ownService(deps, c)), asked: c.req.valid('query') }),
    )
    .get(`${servicePattern}/logs`, checkOwner(deps), query(jobLogQuery), (c) => {
      const service = ownService(deps, c)
      const log = lastLogOf(deps, service)
      return answerJobLog(c, deps, {
        log,
        name: `${service.name}-last-change.log`,
        asked: c.req.valid('query'),
        statuses: statusesOf(deps, log),
      })
    })
