import type { Context } from 'hono'
import { raw } from 'hono/html'
import { isLoginAlive } from '../accounts/login-alive.ts'
import type { Deps } from '../deps.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { clientOf } from '../web/client.ts'
import { factory } from '../web/factory.ts'
import { lastEventId } from '../web/last-event-id.ts'
import { logLineHtml } from '../web/log-line.tsx'
import { query } from '../web/query.ts'
import { sse, sseEvent } from '../web/sse.ts'
import { datedText, textFile } from '../web/text-file.ts'
import { followLog } from './follow-log.ts'
import { logQuery } from './forms.ts'
import type { LogQuery } from './forms.ts'
import { LogBatch, logLineJson } from './log-batch.ts'
import { countMatches, getLastSequence, listLines, searchLines } from './log-store.ts'
import type { LogLine } from './log-store.ts'
import { findDeployment, isEnded } from './store.ts'
import type { Deployment, Status } from './store.ts'

/** Characters after which a page of lines ends early: 500 lines, as the viewer asks for, always fit. */
const maxLength = 8 * 2 ** 20

/** Lines that a download reads at a time. */
const chunkSize = 5000

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
        return textFile(c, { name: `deployment-${id}.log`, pieces: wholeLog(deps, deployment) })
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
  const { id: deploymentId } = deployment
  const asked = Math.max(query.after, lastEventId(c))
  // one that was not given out yet would hide the lines up to it
  const after = Math.min(asked, getLastSequence(deps.logDb, deploymentId))
  return sse(c, {
    streams: deps.streams,
    isAllowed: () => isLoginAlive(deps.db, c),
    events: (signal) => followLog(deps, { deploymentId, after, signal }),
    render(event) {
      if (event instanceof LogBatch) return query.format === 'json' ? event.json : event.html
      return statusEvents(event.status)
    },
  })
}

const statusEvents = (status: Status) =>
  sseEvent({ event: 'status', data: status }) +
  (isEnded(status) ? sseEvent({ event: 'done', data: status }) : '')

function page(
  c: Context,
  { logDb }: Deps,
  { deployment, query }: { deployment: Deployment; query: LogQuery },
) {
  const { limit, search, after, cursor = after } = query
  const key = { deploymentId: deployment.id, after: cursor }
  const wanted = { ...key, limit: limit + 1, maxLength }
  const lines = search ? searchLines(logDb, { ...wanted, search }) : listLines(logDb, wanted)
  const items = lines.slice(0, limit)
  if (clientOf(c) === 'partial') return c.html(raw(items.map(logLineHtml).join('')))
  const isMore = lines.length > limit || lengthOf(lines) >= maxLength
  const nextCursor = isMore ? String(items.at(-1)!.sequence) : null
  const found = search ? { found: countMatches(logDb, { ...key, search }) } : {}
  return c.json({ items: items.map(logLineJson), nextCursor, ...found })
}

const lengthOf = (lines: LogLine[]) => lines.reduce((sum, { text }) => sum + text.length, 0)

/** The whole log as plain text. */
function* wholeLog({ logDb }: Deps, { id: deploymentId }: Deployment) {
  let after = 0
  while (true) {
    const lines = listLines(logDb, { deploymentId, after, limit: chunkSize, maxLength })
    if (lines.length === 0) return
    after = lines.at(-1)!.sequence
    yield lines.map(datedText).join('')
  }
}
