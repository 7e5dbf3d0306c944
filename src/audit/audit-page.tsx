import { EmptyState, MoreLink } from '../web/components.tsx'
import { SelectField } from '../web/fields-view.tsx'
import { actionNames, actions } from './actions.ts'
import { EventList } from './event-list.tsx'
import type { AuditEvent } from './store.ts'
import { Button, ButtonLink } from '../web/form.tsx'

type Events = {
  events: AuditEvent[]
  /** The filter as entered. */
  query: Record<string, string>
  nextCursor: string | null
}

export const Events = ({ events, query, nextCursor }: Events) => (
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
export const FilterForm = ({ query }: Pick<Events, 'query'>) => (
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
