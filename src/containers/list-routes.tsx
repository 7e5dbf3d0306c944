import { factory } from '../web/factory.ts'
import type { User } from '../web/factory.ts'
import { listed, listingOf, ListingForm, NothingFound, Pages, byName } from '../web/listing.tsx'
import type { Listed, Listing } from '../web/listing.tsx'
import { paged } from '../web/paging.ts'
import { show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { listVisible } from './find.ts'
import type { FindDeps, OwnPlace } from './find.ts'
import { containerJson, containersPage, placeForm } from './json.ts'
import { rowsOf, lookOfRow, processText } from './row.ts'
import type { RowDeps, Row } from './row.ts'
import { EmptyState, PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { Live } from '../web/live.tsx'
import { ContainerRow } from './container-row.tsx'
import { web } from '../environments/processes.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { toneRanks } from '../web/status-badge.tsx'

export type ListDeps = FindDeps & RowDeps

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
          const away = deps.serverList.list().filter(({ state }) => state === 'away')
          return <ContainersPage {...{ list, listing, user, away }} />
        },
        json: () => containersPage(rows, c.req.valid('query')),
        live: {},
      })
    })
    .get('/containers/api', async (c) => {
      const rows = await rowsFor(userOf(c), c.req.raw.signal)
      return c.json({ containers: rows.map(containerJson) })
    })

  async function rowsFor(user: User, signal: AbortSignal) {
    return rowsOf(deps, await listVisible(deps, user, { signal }))
  }
}

type Props = {
  list: Listed<Row>
  listing: Listing<Sort>
  user: Viewer & { role: string }
  away: { name: string }[]
}

const path = '/containers'

const ContainersPage = ({ list, listing, user, away }: Props) => (
  <>
    <PageHead title="Containers" doc="logs#containers" />
    {list.all > 0 && <ListingForm {...{ path, listing, sorts, what: 'containers' }} />}
    <Live id="containers" class="container-groups">
      {away.length > 0 && (
        <p class="note">
          What runs on <bdi>{away.map(({ name }) => name).join(', ')}</bdi> isn’t listed:{' '}
          {away.length === 1 ? 'that server is' : 'those servers are'} away.
        </p>
      )}
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

type Heading = ReturnType<typeof headingOf>

type Group = Heading & { rows: Row[] }

type Viewer = Pick<User, 'id'>

const sorts = {
  place: 'Project or service',
  state: 'State',
  name: 'Name',
} as const

type Sort = keyof typeof sorts

function sorted(rows: Row[], sort: Sort, user: Viewer): Row[] {
  if (sort === 'name') return rows.toSorted(byOwnName)
  if (sort === 'state') return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || byOwnName(a, b))
  return rows
    .map((row) => ({ row, heading: headingOf(row, user) }))
    .toSorted((a, b) => byHeading(a.heading, b.heading) || byEnvironment(a.row, b.row))
    .map(({ row }) => row)
}

function textOf({ container, place, server }: Row) {
  const facts = [container.name, shownImage(container.image), server ?? '']
  if (place.kind === 'own')
    facts.push(...namesOf(place), place.process ? processText(place.process) : '')
  return facts.join(' ')
}

/** Expects sorted rows. Projects come first, then services, Davit's own containers, and others. */
function groupRows(rows: Row[], user: Viewer): Group[] {
  const groups = Map.groupBy(rows, (row) => headingOf(row, user).key)
  return [...groups.values()].map((some) => ({ ...headingOf(some[0]!, user), rows: some }))
}

/** Empty for containers that Davit runs for itself, such as Caddy. */
const namesOf = ({ project, environment, service }: OwnPlace) =>
  [project, environment, service].flatMap((named) => named?.name ?? [])

function headingOf({ place }: Row, user: Viewer) {
  if (place.kind === 'other') return others
  const { project, service } = place
  const note = place.owner && place.owner.id !== user.id ? `of ${place.owner.email}` : null
  if (project)
    return {
      key: `project-${project.id}`,
      title: project.name,
      note,
      href: note ? null : `/projects/${project.id}`,
      rank: note ? 2 : 0,
    }
  if (!service) return davits
  return {
    key: `service-${service.id}`,
    title: service.name,
    note: note ? `service ${note}` : 'service',
    href: note ? null : `/services/${service.id}`,
    rank: note ? 3 : 1,
  }
}

const davits = { key: 'davit', title: 'Davit itself', note: null, href: null, rank: 4 }

const others = {
  key: 'other',
  title: 'Other containers',
  note: 'not managed by Davit',
  href: null,
  rank: 5,
}

const byHeading = (a: Heading, b: Heading) =>
  a.rank - b.rank || byName(a.title, b.title) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

const byEnvironment = (a: Row, b: Row) =>
  byName(environmentOf(a), environmentOf(b)) ||
  byName(processOf(a), processOf(b)) ||
  byOwnName(a, b)

const environmentOf = ({ place }: Row) =>
  place.kind === 'own' ? (place.environment?.name ?? '') : ''

/** `web` sorts first. */
function processOf({ place }: Row) {
  const process = place.kind === 'own' ? place.process : null
  return !process || process.name === web ? '' : processText(process)
}

const byOwnName = (a: Row, b: Row) => byName(a.container.name, b.container.name)

const rankOf = (row: Row) => toneRanks[lookOfRow(row).tone]
