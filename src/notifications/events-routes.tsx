import type { Context } from 'hono'
import { z } from 'zod'
import { auditor } from '../audit/record.ts'
import type { Db } from '../db/index.ts'
import { resync } from '../live/hub.ts'
import type { ChangeFeed } from '../live/change-feed.ts'
import { AppError, found } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import { pageOf, pageQuery } from '../web/paging.ts'
import { query } from '../web/query.ts'
import { moveOn, show } from '../web/respond.tsx'
import { settingsView } from '../web/settings-frame.tsx'
import { sse, sseEvent } from '../web/sse.ts'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { Events, eventsPath } from './events-page.tsx'
import { eventJson } from './json.ts'
import type { OpenPages } from './open-pages.ts'
import {
  getNewestId,
  getVisibleEvent,
  listChannelsOf,
  listDeliveries,
  listEvents,
  listEventsAfter,
} from './store.ts'
import type { Delivery, EventRow } from './store.ts'
import type { Outbox } from './outbox.ts'
import { sendAgain } from './outbox-store.ts'

type Deps = { db: Db; changes: ChangeFeed; streams: Streams; pages: OpenPages; outbox: Outbox }

/** Events that a stream reads at once. */
const atOnce = 100

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

const eventsQuery = pageQuery.extend({
  format: z.literal('json', 'must be json, for a stream of events.').optional(),
  after: z.guid('must be the id of an event.').optional(),
})

/** What happened to a user's own things, and to the server for admins. */
export function eventRoutes({ db, changes, streams, pages, outbox }: Deps) {
  const audit = auditor(db)
  return factory
    .createApp()
    .get(eventsPath, query(eventsQuery), (c) => {
      const { format, after, ...page } = c.req.valid('query')
      if (format) return sse(c, { streams, events: (signal) => follow(c, after, signal) })
      const { items, nextCursor } = pageOf(listEvents(db, userOf(c), page), page)
      return show(c, list(c, items, nextCursor))
    })
    .get(`${eventsPath}/notices`, (c) =>
      sse(c, { streams, events: (signal) => notices(userOf(c).id, signal) }),
    )
    .get(`${eventsPath}/:id`, (c) => {
      const event = find(c)
      return show(c, {
        ...list(c, [event], null),
        title: event.title,
        json: () => jsonOf(c, [event])[0],
      })
    })
    .post(`${eventsPath}/:id/send`, (c) => {
      const event = find(c)
      const lanes = sendAgain(db, { eventId: event.id, ownerId: userOf(c).id })
      if (lanes.length === 0)
        throw new AppError(
          'conflict',
          'It failed for none of your channels. There is nothing to send.',
        )
      for (const lane of lanes) outbox.retryNow(lane)
      audit(c, 'event.sent', { object: { kind: 'event', id: event.id, name: event.title } })
      return moveOn(c, { to: eventsPath, said: 'Queued again.', json: () => jsonOf(c, [event])[0] })
    })

  function list(c: Context, events: EventRow[], nextCursor: string | null) {
    const deliveries = deliveriesOf(c, events)
    const hasChannels = listChannelsOf(db, userOf(c).id).length > 0
    return {
      ...settingsView(c, {
        title: 'Events',
        path: eventsPath,
        list: () => <Events {...{ events, deliveries, nextCursor, hasChannels }} />,
      }),
      live: {},
      json: () => ({ items: jsonOf(c, events), nextCursor }) as object,
    }
  }

  function deliveriesOf(c: Context, events: EventRow[]): Map<string, Delivery[]> {
    const all = listDeliveries(
      db,
      userOf(c),
      events.map(({ id }) => id),
    )
    return Map.groupBy(all, ({ delivery }) => delivery.eventId!)
  }

  function jsonOf(c: Context, events: EventRow[]) {
    const deliveries = deliveriesOf(c, events)
    return events.map((event) => eventJson(event, deliveries.get(event.id) ?? []))
  }

  function find(c: Context) {
    return found('event', getVisibleEvent(db, userOf(c), c.req.param('id')!))
  }

  /** Those from now on, or after the last one that the client got. */
  async function* follow(c: Context, asked: string | undefined, signal: AbortSignal) {
    const last = c.req.header('Last-Event-ID') ?? ''
    let after = uuid.test(last) ? last : (asked ?? getNewestId(db))
    for await (const _ of changes.follow({}, signal))
      for (let isMore = true; isMore && !signal.aborted;) {
        const events = listEventsAfter(db, userOf(c), { after, limit: atOnce })
        for (const [at, json] of jsonOf(c, events).entries())
          yield sseEvent({ id: events[at]!.id, data: JSON.stringify(json) })
        after = events.at(-1)?.id ?? after
        isMore = events.length === atOnce
      }
  }

  async function* notices(userId: string, signal: AbortSignal) {
    for await (const message of pages.follow(userId, signal))
      if (message !== resync) yield sseEvent({ data: JSON.stringify(message) })
  }
}
