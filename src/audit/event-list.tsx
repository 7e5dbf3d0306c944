import { Person } from '../web/person.tsx'
import { Ago } from '../web/times.tsx'
import { actions } from './actions.ts'
import type { Action } from './actions.ts'
import type { AuditEvent } from './store.ts'

export const EventList = ({ events }: { events: AuditEvent[] }) => (
  <ul class="rows">
    {events.map((event) => (
      <EventRow event={event} />
    ))}
  </ul>
)

const EventRow = ({ event }: { event: AuditEvent }) => (
  <li>
    <div class="row-main">
      <p>
        <Person email={event.actor} /> {actions[event.action as Action] ?? event.action}{' '}
        {event.objectName && (
          <strong>
            <bdi>{event.objectName}</bdi>
          </strong>
        )}
      </p>
      <p class="row-facts">
        <Ago at={event.createdAt} />
        {event.address && <span>{event.address}</span>}
        {Object.entries(event.details).map(([name, value]) => (
          <span>
            {name.replaceAll('_', ' ')}: <bdi>{value}</bdi>
          </span>
        ))}
      </p>
    </div>
  </li>
)
