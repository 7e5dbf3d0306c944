import type { Db } from '../db/index.ts'
import { answerJobLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { jobLogQuery } from '../logs/forms.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { findDeployment, getStatus, isEnded, logOf } from './store.ts'

/** The log of a deployment. */
export const logRoutes = (deps: StreamDeps & { db: Db }) =>
  factory
    .createApp()
    .get(
      '/projects/:id/deployments/:deploymentId/logs',
      ownProject(deps),
      query(jobLogQuery),
      (c) => {
        const project = findProject(deps.db, ownKey(c))
        const id = c.req.param('deploymentId')
        return answerJobLog(c, deps, {
          log: logOf(findDeployment(deps.db, { id, projectId: project.id })),
          name: `deployment-${id}.log`,
          asked: c.req.valid('query'),
          statuses: { now: () => getStatus(deps.db, id), isEnd: isEnded },
        })
      },
    )
