import { z } from 'zod'
import { componentOf, does, id, listOf, shown, time } from '../web/operation.ts'
import type { SliceOperations } from '../web/operation.ts'
import { channelKinds } from './channel-store.ts'
import { eventKinds, eventLevels } from './store.ts'
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

const event = componentOf('Event', () => ({
  id,
  kind: z.enum(eventKinds),
  level: z.enum(eventLevels),
  subject: z.string(),
  title: z.string(),
  text: z.string(),
  todo: z.string().nullable(),
  href: z.string(),
  projectId: id.nullable(),
  environmentId: id.nullable(),
  serviceId: id.nullable(),
  count: z.int(),
  lastAt: time,
  endedAt: time.nullable(),
  createdAt: time,
  deliveries: z.array(delivery()),
}))

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
