import { Failure } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { User } from '../web/factory.ts'
import { listed, listingOf, ListingForm, NothingFound, Pages } from '../web/listing.tsx'
import { paged } from '../web/paging.ts'
import { show } from '../web/respond.tsx'
import { sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { listVisible } from './find.ts'
import type { FindDeps } from './find.ts'
import { sorted, sorts, textOf, groupRows } from './groups.ts'
import { containerJson, containersPage, placeForm } from './json.ts'
import { rowOf } from './row.ts'
import type { RowDeps, Row } from './row.ts'
import { EmptyState, PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import type { Listed, Listing } from '../web/listing.tsx'
import { Live } from '../web/live.tsx'
import { ContainerRow } from './container-row.tsx'
import type { Group, Sort, Viewer } from './groups.ts'

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

type Props = { list: Listed<Row>; listing: Listing<Sort>; user: Viewer & { role: string } }

const path = '/containers'

const ContainersPage = ({ list, listing, user }: Props) => (
  <>
    <PageHead title="Containers" doc="logs#containers" />
    {list.all > 0 && <ListingForm {...{ path, listing, sorts, what: 'containers' }} />}
    <Live id="containers" class="container-groups">
      {list.all === 0 ? (
        <NothingRuns isAdmin={user.role === 'admin'} />
      ) : list.total === 0 ? (
        <NothingFound path={path}>
          No container has “<bdi>{listing.q}</bdi>” in its name, its image or what it belongs to.
        </NothingFound>
      ) : listing.sort === 'place' ? (
        groupRows(list.items, user).map((group) => <GroupView group={group} />)
      ) : (
        <Rows rows={list.items} />
      )}
      {list.all > 0 && <Pages {...{ path, listing, list }} />}
    </Live>
  </>
)

const GroupView = ({ group: { key, href, title, note, rows } }: { group: Group }) => (
  <section id={key} aria-labelledby={`${key}-heading`}>
    <h2 id={`${key}-heading`}>
      {href ? (
        <a href={href}>
          <bdi>{title}</bdi>
        </a>
      ) : (
        <bdi>{title}</bdi>
      )}
      {note && <small class="muted">{note}</small>}
    </h2>
    <Rows rows={rows} />
  </section>
)

const Rows = ({ rows }: { rows: Row[] }) => (
  <ul class="rows">
    {rows.map((row) => (
      <ContainerRow row={row} />
    ))}
  </ul>
)

const NothingRuns = ({ isAdmin }: { isAdmin: boolean }) => (
  <EmptyState title="No containers">
    <p>
      {isAdmin
        ? 'There are none on this server. Deploy a project, and its container appears here.'
        : 'Deploy a project, and its container appears here with its state and its log.'}
    </p>
    <ButtonLink href="/projects">Open projects</ButtonLink>
  </EmptyState>
)
