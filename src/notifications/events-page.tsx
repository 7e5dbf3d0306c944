import { EmptyState } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Badge } from '../web/status-badge.tsx'
import type { Look } from '../web/status-badge.tsx'
import { Ago, In } from '../web/times.tsx'
import { counted } from '../web/units.ts'
import type { Delivery, EventRow } from './store.ts'

export const eventsPath = '/settings/events'

type Props = {
  events: EventRow[]
  deliveries: Map<string, Delivery[]>
  nextCursor: string | null
  hasChannels: boolean
}

export const Events = ({ events, deliveries, nextCursor, hasChannels }: Props) => (
  <SettingsList
    id="events"
    aria-label="Events"
    about="What failed, what works again, and which channels it was sent to. Kept for 90 days."
    action={events.length > 0 && !hasChannels && <ChannelsLink />}
    rows={events.map((event) => (
      <Row event={event} deliveries={deliveries.get(event.id) ?? []} />
    ))}
    empty={
      <EmptyState title="No events">
        <p>Failures of deployments, apps, services, schedules and backups are listed here.</p>
        {!hasChannels && <ChannelsLink />}
      </EmptyState>
    }
    more={{ href: eventsPath, nextCursor }}
    isLive
  />
)

const ChannelsLink = () => (
  <ButtonLink variant="outline" href="/settings/channels">
    Set up channels
  </ButtonLink>
)

const Row = ({ event, deliveries }: { event: EventRow; deliveries: Delivery[] }) => {
  const { id, level, title, text, todo, href, count, lastAt, endedAt, createdAt } = event
  const isOver = endedAt !== null && level !== 'resolved'
  return (
    <li id={`event-${id}`} class="row deployment-row">
      <Badge {...looks[level]} />
      <div class="row-main">
        <a href={href}>
          <strong>
            <bdi>{title}</bdi>
          </strong>
        </a>
        <p>
          <bdi>{text}</bdi>
        </p>
        {todo && !isOver && <p class="muted">{todo}</p>}
        <p class="row-facts">
          <Ago at={createdAt} />
          {count > 1 && level !== 'resolved' && (
            <span>
              {count} times, last <Ago at={lastAt} />
            </span>
          )}
          {isOver && (
            <span>
              ended <Ago at={endedAt} />
            </span>
          )}
          {deliveries.length === 0 && <span>sent to no channel</span>}
        </p>
        {deliveries.length > 0 && <Deliveries deliveries={deliveries} />}
      </div>
      <div class="row-actions">
        {deliveries.some(({ delivery }) => delivery.status === 'failed') && (
          <PostForm action={`${eventsPath}/${id}/send`}>
            <Button variant="outline" small aria-label={`Send again: ${title}`}>
              Send again
            </Button>
          </PostForm>
        )}
      </div>
    </li>
  )
}

const Deliveries = ({ deliveries }: { deliveries: Delivery[] }) => {
  const of = (...statuses: string[]) =>
    deliveries.filter(({ delivery }) => statuses.includes(delivery.status)).length
  const [sent, failed, left] = [of('sent'), of('failed'), of('waiting', 'sending')]
  const parts = [
    sent > 0 && `sent to ${counted(sent, 'channel')}`,
    left > 0 && `on its way to ${counted(left, 'channel')}`,
    failed > 0 && `failed for ${counted(failed, 'channel')}`,
    of('dropped') > 0 && `not sent to ${counted(of('dropped'), 'channel')}`,
  ]
  return (
    <details class="deliveries" open={failed > 0}>
      <summary>{parts.filter(Boolean).join(', ')}</summary>
      <ul>
        {deliveries.map((one) => (
          <li>
            <DeliveryLine {...one} />
          </li>
        ))}
      </ul>
    </details>
  )
}

const DeliveryLine = ({ delivery, channel }: Delivery) => {
  const { status, answer, tries, uncertain, sentAt, nextAt } = delivery
  return (
    <>
      <bdi>{channel.name}</bdi>: {words[status]}
      {sentAt && (
        <>
          {' '}
          <Ago at={sentAt} />
        </>
      )}
      {answer && <>. {sentence(answer)}</>}
      {status === 'waiting' && nextAt && (
        <>
          {tries > 0 && ` ${counted(tries, 'attempt')}.`} Next <In at={nextAt} />.
        </>
      )}
      {uncertain && ' It may have arrived twice.'}
    </>
  )
}

const sentence = (answer: string) => (/[.!?]$/.test(answer) ? answer : `The response: ${answer}.`)

const words: Record<Delivery['delivery']['status'], string> = {
  waiting: 'waiting',
  sending: 'being sent',
  sent: 'sent',
  failed: 'failed',
  dropped: 'not sent',
}

const looks: Record<EventRow['level'], Look> = {
  info: { word: 'Info', tone: 'quiet', icon: 'minus' },
  warning: { word: 'Warning', tone: 'bad', icon: 'triangle-alert' },
  failure: { word: 'Failed', tone: 'bad', icon: 'x' },
  resolved: { word: 'Recovered', tone: 'good', icon: 'check' },
}
