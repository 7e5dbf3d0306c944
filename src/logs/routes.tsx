import type { Context } from 'hono'
import { raw } from 'hono/html'
import { isLoginAlive } from '../accounts/login-alive.ts'
import type { Deps } from '../deps.ts'
import { findEnvironment, listEnvironments } from '../environments/store.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { factory } from '../web/factory.ts'
import { lastEventId } from '../web/last-event-id.ts'
import { clientOf } from '../web/client.ts'
import { query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { sse } from '../web/sse.ts'
import { followOutput } from './follow-output.ts'
import { outputQuery, outputStreamQuery } from './forms.ts'
import type { OutputQuery } from './forms.ts'
import { outputLineHtml, outputLineJson } from './output-batch.ts'
import { OutputPage } from './output-page.tsx'
import { getExtent } from './output-store.ts'
import { findOutput, listOutputBefore } from './read-output.ts'

/** Lines that the page itself carries; the viewer asks for the rest. */
const tailLength = 200

/** Lines that a download reads at a time. */
const chunkSize = 5000

/** What the containers of an environment wrote, over all its deployments. */
export const outputRoutes = (deps: Deps) => {
  const { db, logDb, config } = deps
  const own = ownProject(deps)

  return factory
    .createApp()
    .get('/projects/:id/envs/:envId/output', own, query(outputQuery), async (c) => {
      const { project, environment } = find(c)
      const asked = c.req.valid('query')
      if (asked.download !== undefined) return download(c, environment, asked)
      const sourceId = environment.id
      if (clientOf(c) === 'browser') {
        const extent = getExtent(logDb, sourceId)
        const before = extent.last + 1
        const tail = listOutputBefore(logDb, { sourceId, before, limit: tailLength })
        const environments = listEnvironments(db, project.id)
        return show(c, {
          title: `${project.name}: logs of ${environment.name}`,
          page: () => (
            <OutputPage {...{ project, environment, environments, extent, tail, config }} />
          ),
        })
      }
      const { lines, next } = await linesFor(sourceId, asked)
      c.header('Vary', 'Accept, HX-Request, HX-Request-Type')
      if (clientOf(c) === 'partial') return c.html(raw(lines.map(outputLineHtml).join('')))
      const { first, last, since } = getExtent(logDb, sourceId)
      return c.json({
        items: lines.map(outputLineJson),
        nextCursor: next === null ? null : String(next),
        first,
        last,
        since: since === null ? null : new Date(since).toISOString(),
      })
    })
    .get('/projects/:id/envs/:envId/output/stream', own, query(outputStreamQuery), (c) => {
      const { environment } = find(c)
      const { format, ...asked } = c.req.valid('query')
      const sourceId = environment.id
      const { live } = deps.collector
      // one that was not given out yet would hide the lines up to it
      const after = Math.min(Math.max(asked.after, lastEventId(c)), getExtent(logDb, sourceId).last)
      return sse(c, {
        streams: deps.streams,
        isAllowed: () => isLoginAlive(db, c),
        events: async function* (signal) {
          for await (const batch of followOutput({ live, logDb }, { sourceId, after, signal }))
            yield format === 'json' ? batch.json : batch.html
        },
      })
    })

  function find(c: Context) {
    const project = findProject(db, ownKey(c))
    const key = { id: c.req.param('envId')!, projectId: project.id }
    return { project, environment: findEnvironment(db, key) }
  }

  async function linesFor(sourceId: string, { after, cursor = after, ...asked }: OutputQuery) {
    if (asked.before === undefined) return findOutput(logDb, { ...asked, sourceId, after: cursor })
    const { before, limit } = asked
    return { lines: listOutputBefore(logDb, { sourceId, before, limit }), next: null }
  }

  /** As plain text, read in chunks as the client takes it. */
  function download(
    c: Context,
    { id: sourceId, name }: { id: string; name: string },
    { after, cursor = after, limit: _, ...filter }: OutputQuery,
  ) {
    let next: number | null = cursor
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          while (next !== null) {
            const asked = { ...filter, sourceId, after: next, limit: chunkSize }
            const found = await findOutput(logDb, asked)
            next = found.next
            if (found.lines.length === 0) continue
            const text = found.lines.map(
              ({ time, text }) => `${new Date(time).toISOString()} ${text}\n`,
            )
            return controller.enqueue(new TextEncoder().encode(text.join('')))
          }
          controller.close()
        },
      },
      { highWaterMark: 1 },
    )
    return c.body(body, 200, {
      'Content-Type': 'text/plain; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}.log"`,
    })
  }
}
