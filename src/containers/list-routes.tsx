import { Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { User } from '../web/factory.ts'
import { listed, listingOf } from '../web/listing.tsx'
import { paged } from '../web/paging.ts'
import { show } from '../web/respond.tsx'
import { sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { listVisible } from './find.ts'
import type { FindDeps } from './find.ts'
import { sorted, sorts, textOf } from './groups.ts'
import { containerJson, containersPage, placeForm } from './json.ts'
import { ContainersPage } from './list-page.tsx'
import { rowOf } from './row.ts'
import type { RowDeps } from './row.ts'

export type ListDeps = FindDeps & RowDeps & { streams: Streams }

export const containerListRoutes = (deps: ListDeps) => {
  return factory
    .createApp()
    .get('/containers', paged(placeForm), async (c) => {
      const user = userOf(c)
      const rows = await rowsFor(user, c.req.raw.signal)
      return show(c, {
        title: 'Containers',
        page: () => {
          const listing = listingOf(c, sorts)
          const list = listed(sorted(rows, listing.sort, user), listing, textOf)
          return <ContainersPage {...{ list, listing, user }} />
        },
        json: () => containersPage(rows, c.req.valid('query')),
        live: {},
      })
    })
    .get('/containers/api', async (c) => {
      const rows = await rowsFor(userOf(c), c.req.raw.signal)
      return c.json({ containers: rows.map(containerJson) })
    })
    .get('/containers/events', (c) => {
      const user = userOf(c)
      return sse(c, {
        streams: deps.streams,
        events: (signal) => follow(user, signal),
      })
    })

  /**
   * Yields the list as JSON at once and after changes, at most once a second.
   * While the engine is unreachable, the last list stays valid.
   */
  async function* follow(user: User, signal: AbortSignal) {
    let sent = ''
    for await (const _ of deps.observed.changes(signal))
      try {
        const containers = (await rowsFor(user, signal)).map(containerJson)
        const data = JSON.stringify({ containers })
        if (data !== sent) yield sseEvent({ data })
        sent = data
      } catch (error) {
        if (!(error instanceof Failure)) throw error
      }
  }

  async function rowsFor(user: User, signal: AbortSignal) {
    const visible = await listVisible(deps, user, { signal })
    return visible.map((listed) => rowOf(deps, listed))
  }
}
