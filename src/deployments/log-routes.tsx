import type { Context } from 'hono'
import { isLoginAlive } from '../accounts/login-alive.ts'
import type { Deps } from '../deps.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { lastEventId, sse, sseEvent } from '../web/sse.ts'
import { logLineHtml } from '../web/log-line.tsx'
import { linesAsHtml, linesAsJson } from '../web/lines-answer.ts'
import { query } from '../web/query.ts'
import { datedText, textFile } from '../web/text-file.ts'
import { followLog } from './follow-log.ts'
import { logQuery } from './forms.ts'
import type { LogQuery } from './forms.ts'
import { LogBatch, logLineJson } from './log-batch.ts'
import { readLines, searchLines, wholeLog } from './log-read.ts'
import { getLastSequence } from './log-store.ts'
import { findDeployment, isEnded } from './store.ts'
import type { Deployment, Status } from './store.ts'

/** The log of a deployment: a stream by default, else a page of lines, the hits of a search, or a text file. */
export const logRoutes = (deps: Deps) =>
  factory
    .createApp()
    .get('/projects/:id/deployments/:deploymentId/logs', ownProject(deps), query(logQuery), (c) => {
      const project = findProject(deps.db, ownKey(c))
      const id = c.req.param('deploymentId')
      const deployment = findDeployment(deps.db, { id, projectId: project.id })
      const wanted = c.req.valid('query')
      if (wanted.download !== undefined)
        return textFile(c, {
          name: `deployment-${id}.log`,
          pieces: wholeLog(deps, deployment, datedText),
        })
      if (wantsStream(c, wanted)) return stream(c, deps, { deployment, query: wanted })
      return page(c, deps, { deployment, query: wanted })
    })

/** Pages are asked for as JSON or, by the log viewer, as a fragment; everything else follows the log. */
function wantsStream(c: Context, { format, search }: LogQuery) {
  const accept = c.req.header('Accept') ?? ''
  if (search !== undefined) return false
  if (format !== undefined || accept.includes('text/event-stream')) return true
  return clientOf(c) === 'browser'
}

function stream(
  c: Context,
  deps: Deps,
  { deployment, query }: { deployment: Deployment; query: LogQuery },
) {
  const { id: deploymentId, environmentId } = deployment
  const asked = Math.max(query.after, lastEventId(c))
  // one that was not given out yet would hide the lines up to it
  const after = Math.min(asked, getLastSequence(deps.logDb, deploymentId))
  return sse(c, {
    streams: deps.streams,
    isAllowed: () => isLoginAlive(deps.db, c),
    events: (signal) => followLog(deps, { deploymentId, environmentId, after, signal }),
    render(event) {
      if (event instanceof LogBatch) return query.format === 'json' ? event.json : event.html
      return statusEvents(event.status)
    },
  })
}

const statusEvents = (status: Status) =>
  sseEvent({ event: 'status', data: status }) +
  (isEnded(status) ? sseEvent({ event: 'done', data: status }) : '')

async function page(
  c: Context,
  deps: Deps,
  { deployment: log, query }: { deployment: Deployment; query: LogQuery },
) {
  const { limit, search, after, cursor = after } = query
  const wanted = { log, after: cursor, limit }
  const { lines, next, ...found } = search
    ? await searchLines(deps, { ...wanted, search })
    : await readLines(deps, wanted)
  if (clientOf(c) === 'partial') return linesAsHtml(c, { lines, html: logLineHtml })
  const nextCursor = next === null ? null : String(next)
  return linesAsJson(c, { lines, json: logLineJson, nextCursor, ...found })
}
