import type { Context } from 'hono'
import type { Db } from '../db/index.ts'
import { answerLog, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { countLines } from '../logs/read-log.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { query } from '../web/query.ts'
import { deploymentLogQuery } from './forms.ts'
import type { DeploymentLogQuery } from './forms.ts'
import { findDeployment, getStatus, isEnded, logOf } from './store.ts'

/** The log of a deployment: a stream by default, else a page of lines, the hits of a search, or a text file. */
export const logRoutes = (deps: StreamDeps & { db: Db }) =>
  factory
    .createApp()
    .get(
      '/projects/:id/deployments/:deploymentId/logs',
      ownProject(deps),
      query(deploymentLogQuery),
      (c) => {
        const project = findProject(deps.db, ownKey(c))
        const id = c.req.param('deploymentId')
        const log = logOf(findDeployment(deps.db, { id, projectId: project.id }))
        const { format, ...asked } = c.req.valid('query')
        if (wantsStream(c, c.req.valid('query')))
          return streamLog(c, deps, {
            log,
            asked: { after: asked.after, format },
            statuses: { now: () => getStatus(deps.db, id), isEnd: isEnded },
          })
        const { search } = asked
        return answerLog(c, deps, {
          log,
          name: `deployment-${id}.log`,
          asked,
          more: async () => (search ? { found: await countLines(deps, log, search) } : {}),
        })
      },
    )

/** Pages are asked for as JSON or, by the log viewer, as a fragment; everything else follows the log. */
function wantsStream(c: Context, { format, search, download }: DeploymentLogQuery) {
  const accept = c.req.header('Accept') ?? ''
  if (search !== undefined || download !== undefined) return false
  if (format !== undefined || accept.includes('text/event-stream')) return true
  return clientOf(c) === 'browser'
}
