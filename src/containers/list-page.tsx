import { EmptyState, PageHead } from '../web/components.tsx'
import { ButtonLink } from '../web/form.tsx'
import { ListingForm, NothingFound, Pages } from '../web/listing.tsx'
import type { Listed, Listing } from '../web/listing.tsx'
import { Live } from '../web/live.tsx'
import { ContainerRow } from './container-row.tsx'
import { groupRows, sorts } from './groups.ts'
import type { Group, Sort, Viewer } from './groups.ts'
import type { Row } from './row.ts'

type Props = { list: Listed<Row>; listing: Listing<Sort>; user: Viewer & { role: string } }

const path = '/containers'

export const ContainersPage = ({ list, listing, user }: Props) => (
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
