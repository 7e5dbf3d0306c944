import { z } from 'zod'
import { rowJson } from '../resources/json.ts'
import { componentOf, does, id, listOf, shown, time } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { channelKinds } from './channel-store.ts'
import { events } from './store.ts'
import type { Delivery, EventRow } from './store.ts'

const delivery = componentOf('EventDelivery', () => ({
  id,
  channelId: id.nullable(),
  channel: z.string(),
  kind: z.enum(channelKinds),
  status: z.enum(['waiting', 'sending', 'sent', 'failed', 'dropped']),
  messageId: id.nullable(),
  tries: z.int(),
  answer: z.string().nullable(),
  uncertain: z.boolean(),
  nextAt: time.nullable(),
  sentAt: time.nullable(),
}))

const event = rowJson(
  'Event',
  events,
  [
    ...(['kind', 'level', 'subject', 'title', 'text', 'todo', 'href'] as const),
    ...(['projectId', 'environmentId', 'serviceId', 'count', 'lastAt', 'endedAt'] as const),
  ],
  () => ({ deliveries: z.array(delivery()) }),
)

export const eventJson = (row: EventRow, deliveries: Delivery[]) =>
  shown(event, {
    ...row,
    deliveries: deliveries.map(({ delivery: one, channel: { name, kind } }) =>
      shown(delivery, { ...one, channel: name, kind }),
    ),
  })

export const operations: SliceOperations = () => ({
  Notifications: {
    'GET /settings/events': does('List events, newest first', listOf(event()), { event: event() }),
    'GET /settings/events/:id': does('Get an event', event()),
    'POST /settings/events/:id/send': does('Send an event again where it failed', event()),
  },
})
