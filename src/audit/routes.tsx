import type { Db } from '../db/index.ts'
import { factory } from '../web/factory.ts'
import { pageOf, pageQuery } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { requireAdmin } from '../web/user-of.ts'
import { show } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { eventJson } from './json.ts'
import { listEvents } from './store.ts'
import type { Filter, AuditEvent } from './store.ts'
import { z } from 'zod'
import { line } from '../web/fields.ts'
import { actionNames, actions } from './actions.ts'
import { EmptyState, MoreLink } from '../web/components.tsx'
import { SelectField } from '../web/fields-view.tsx'
import { EventList } from './event-list.tsx'
import { Button, ButtonLink } from '../web/form.tsx'

export const auditRoutes = ({ db }: { db: Db }) =>
  factory.createApp().get('/settings/audit', requireAdmin, query(auditQuery), (c) => {
    const { filter, page } = c.req.valid('query')
    const { cursor, limit, ...asked } = c.req.query()
    const typed = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== ''))
    const { items: events, nextCursor } = pageOf(listEvents(db, { filter, page }), page)
    const partial = () => <Events {...{ events, query: typed, nextCursor }} />
    const view = settingsView(c, {
      title: 'Audit',
      path: '/settings/audit',
      list: () => (
        <>
          <FilterForm query={typed} />
          {partial()}
        </>
      ),
      partial,
      json: () => ({ items: events.map(eventJson), nextCursor }),
    })
    return show(c, view)
  })

const day = 24 * 3_600_000

const isDay = (text: string) => /^\d{4}-\d{2}-\d{2}$/.test(text)

/** A date, or a time as in RFC 3339; in UTC unless it has an offset. */
const moment = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a day such as 2026-08-31.')
  .optional()

const auditQuery = pageQuery
  .extend({
    actor: line('an e-mail address or a part of it', { max: 254 }).optional(),
    action: z.enum(actionNames, 'must be an action such as login.failed.').optional(),
    object: line('the kind, name or id of an object', { max: 300 }).optional(),
    from: moment,
    to: moment,
  })
  .transform(({ cursor, limit, from, to, ...named }) => {
    const filter: Filter = {
      ...named,
      from: from ? new Date(from) : undefined,
      until: to ? endOf(to) : undefined,
    }
    return { filter, page: { cursor, limit } }
  })

/** A date includes its whole day, a time its millisecond. */
const endOf = (to: string) => new Date(new Date(to).getTime() + (isDay(to) ? day : 1))

type Events = {
  events: AuditEvent[]
  /** The filter as entered. */
  query: Record<string, string>
  nextCursor: string | null
}

const Events = ({ events, query, nextCursor }: Events) => (
  <section id="events" aria-label="Events">
    {events.length === 0 ? (
      <EmptyState title="No events">
        <p>Events are kept for 400 days. None of them matches this filter.</p>
        <ButtonLink variant="outline" href="/settings/audit">
          Show all events
        </ButtonLink>
      </EmptyState>
    ) : (
      <EventList events={events} />
    )}
    <MoreLink href="/settings/audit" query={query} nextCursor={nextCursor} />
  </section>
)

/** A GET form, so that the filter is in the URL. */
const FilterForm = ({ query }: Pick<Events, 'query'>) => (
  <details class="filter" open={Object.keys(query).length > 0}>
    <summary>Filter</summary>
    <form class="form" action="/settings/audit">
      <div class="field-row">
        <FilterField name="actor" label="User" query={query} placeholder="ada@example.com" />
        <SelectField
          name="action"
          label="Action"
          value={query['action']}
          options={[
            { value: '', label: 'anything' },
            ...actionNames.map((name) => ({ value: name, label: actions[name] })),
          ]}
        />
        <FilterField name="object" label="Object" query={query} placeholder="name, kind or id" />
        <FilterField name="from" label="From" query={query} type="date" />
        <FilterField name="to" label="To" query={query} type="date" />
      </div>
      <div class="form-actions start">
        <Button>Show</Button>
        <ButtonLink variant="ghost" href="/settings/audit">
          Show all
        </ButtonLink>
      </div>
    </form>
  </details>
)

/** Without the “optional” note, since all of these fields are. */
const FilterField = ({
  name,
  label,
  query,
  ...rest
}: Pick<Events, 'query'> & {
  name: string
  label: string
  type?: 'date'
  placeholder?: string
}) => (
  <div class="field">
    <label for={`filter-${name}`}>{label}</label>
    <input id={`filter-${name}`} name={name} value={query[name]} type="text" {...rest} />
  </div>
)
