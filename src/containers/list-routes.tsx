import { factory } from '../web/factory.ts'
import type { User } from '../web/factory.ts'
import { paged } from '../web/paging.ts'
import { query, streamQuery } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { sse } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { listVisible } from './find.ts'
import type { FindDeps } from './find.ts'
import { followHtml, followJson } from './follow-list.tsx'
import { groupRows } from './groups.ts'
import { containerJson, containersPage, placeForm } from './json.ts'
import { ContainersPage } from './list-page.tsx'
import { rowOf } from './row.ts'
import type { RowDeps } from './row.ts'

export type ListDeps = FindDeps & RowDeps & { streams: Streams }

/** Everything that the user may see on the engine: as a page, as JSON, and live. */
export const containerListRoutes = (deps: ListDeps) => {
  return factory
    .createApp()
    .get('/containers', paged(placeForm), async (c) => {
      const user = userOf(c)
      const rows = await rowsFor(user, c.req.raw.signal)
      const isAdmin = user.role === 'admin'
      return show(c, {
        title: 'Containers',
        page: () => <ContainersPage groups={groupRows(rows, user)} isAdmin={isAdmin} />,
        json: () => containersPage(rows, c.req.valid('query')),
      })
    })
    .get('/containers/api', async (c) => {
      const rows = await rowsFor(userOf(c), c.req.raw.signal)
      return c.json({ containers: rows.map(containerJson) })
    })
    .get('/containers/events', query(streamQuery), (c) => {
      const user = userOf(c)
      const { csrfToken } = c.var
      const isJson = c.req.valid('query').format === 'json'
      return sse(c, {
        streams: deps.streams,
        events: (signal) =>
          isJson
            ? followJson(deps, { user, signal })
            : followHtml(deps, { user, csrfToken, signal }),
      })
    })

  async function rowsFor(user: User, signal: AbortSignal) {
    const visible = await listVisible(deps, user, { signal })
    return visible.map((listed) => rowOf(deps, listed))
  }
}
