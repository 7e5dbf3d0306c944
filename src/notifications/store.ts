import {
  and,
  asc,
  between,
  count,
  desc,
  eq,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  notInArray,
  or,
  sql,
} from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { getRow, hasRow, listPage, listRows, listValues } from '../db/queries.ts'
import { channels, events, outbox, users } from '../db/schema.ts'
import type { Page } from '../web/paging.ts'
import { changeParcels, isTo, isUnsent, isWaiting, renewed } from './outbox-store.ts'

export { eventKinds, events } from '../db/schema.ts'

export type EventRow = typeof events.$inferSelect

type Reader = { id: string; role: 'admin' | 'member' }

const isOpen = and(isNull(events.endedAt), sql`${events.level} <> 'resolved'`)

export const insertEvent = (tx: Tx, values: typeof events.$inferInsert) =>
  tx.insert(events).values(values).returning().get()

export const updateEvent = (tx: Tx, id: string, changes: Partial<EventRow>) =>
  tx.update(events).set(changes).where(eq(events.id, id)).run()

/** What went bad and isn't well again. */
export const getOpen = (tx: Tx, of: string) => getRow(tx, events, and(eq(events.of, of), isOpen))

/** The same for all that start with one of these. */
export const listOpenOf = (tx: Tx, prefixes: string[]) =>
  listRows(
    tx,
    events,
    and(or(...prefixes.map((prefix) => between(events.of, prefix, `${prefix}~`))), isOpen),
  )

/** The newest event of what went bad and well. */
export const getNewestOf = (tx: Tx, of: string) =>
  getRow(tx, events, eq(events.of, of), desc(events.id))

/** The end before what is open, if it came after that time. */
export const getEndBefore = (tx: Tx, { id, of }: EventRow, { since }: { since: Date }) =>
  getRow(
    tx,
    events,
    and(
      eq(events.of, of!),
      eq(events.level, 'resolved'),
      lt(events.id, id),
      gt(events.createdAt, since),
    ),
    desc(events.id),
  )

export const deleteEvent = (tx: Tx, id: string) => tx.delete(events).where(eq(events.id, id)).run()

/** Channels of whom an event concerns: its owner, or all admins. A disabled account has none. */
export const listChannelsOf = (tx: Tx, ownerId: string | null) =>
  tx
    .select({ channel: channels })
    .from(channels)
    .innerJoin(users, eq(users.id, channels.ownerId))
    .where(
      and(
        isNull(users.disabledAt),
        ownerId === null ? eq(users.role, 'admin') : eq(users.id, ownerId),
      ),
    )
    .orderBy(asc(channels.id))
    .all()
    .map(({ channel }) => channel)

export const listTold = (tx: Tx, eventId: string) =>
  listValues(tx, outbox.channelId, and(eq(outbox.eventId, eventId)))

/** Channels whose message isn't on its way yet: it will say what is known then. */
export const listAwaiting = (tx: Tx, eventId: string) =>
  listValues(tx, outbox.channelId, and(eq(outbox.eventId, eventId), isWaiting))

/** What these channels weren't sent is due again, to all recipients of each: it says something else now. */
export function renewForAll(tx: Tx, to: { id: string }[], eventId: string) {
  const mayHaveIt = or(isNotNull(outbox.left), eq(outbox.uncertain, true)) // some, what it said
  const isBehind = or(isUnsent, and(isWaiting, mayHaveIt))
  changeParcels(tx, and(isTo(to, eventId), isBehind), { ...renewed(), left: null })
}

/** True while no one was told of it. */
export const isUntold = (tx: Tx, eventId: string) =>
  !hasRow(
    tx,
    outbox,
    and(eq(outbox.eventId, eventId), notInArray(outbox.status, ['waiting', 'dropped'])),
  )

/** A person's own events, and the server's for an admin. */
const visibleTo = ({ id, role }: Reader) =>
  role === 'admin' ? or(eq(events.ownerId, id), isNull(events.ownerId)) : eq(events.ownerId, id)

/** Newest first, with one more row than the page, which shows that more follow. */
export const listEvents = (db: Db, reader: Reader, page: Page) =>
  listPage(db, events, visibleTo(reader), page)

export const getVisibleEvent = (db: Db, reader: Reader, id: string) =>
  getRow(db, events, and(eq(events.id, id), visibleTo(reader)))

/** Oldest first, of those with an id after the given one. */
export const listEventsAfter = (
  db: Db,
  reader: Reader,
  { after, limit }: { after: string; limit: number },
) =>
  db
    .select()
    .from(events)
    .where(and(visibleTo(reader), gt(events.id, after)))
    .orderBy(asc(events.id))
    .limit(limit)
    .all()

export const getNewestId = (db: Db) => getRow(db, events, undefined, desc(events.id))?.id ?? ''

/** With the reader's own channels: what others were told is not theirs. */
export const listDeliveries = (db: Db, reader: Reader, eventIds: string[]) =>
  db
    .select({ delivery: outbox, channel: { name: channels.name, kind: channels.kind } })
    .from(outbox)
    .innerJoin(channels, eq(channels.id, outbox.channelId))
    .where(and(inArray(outbox.eventId, eventIds), eq(channels.ownerId, reader.id)))
    .orderBy(asc(outbox.id))
    .all()

export type Delivery = ReturnType<typeof listDeliveries>[number]

/** What a message says that is being sent: how many events by level, and the first of them. */
export function describeMessage(db: Db, messageId: string, { first }: { first: number }) {
  // what was given up or dropped keeps the id of the message it was part of
  const isPart = and(eq(outbox.messageId, messageId), eq(outbox.status, 'sending'))
  return {
    levels: db
      .select({ level: events.level, count: count() })
      .from(outbox)
      .innerJoin(events, eq(events.id, outbox.eventId))
      .where(isPart)
      .groupBy(events.level)
      .all(),
    first: db
      .select({ event: events })
      .from(outbox)
      .innerJoin(events, eq(events.id, outbox.eventId))
      .where(isPart)
      .orderBy(asc(events.id))
      .limit(first)
      .all()
      .map(({ event }) => event),
  }
}

/** Milliseconds for which events are kept, with their deliveries. */
const kept = 90 * 24 * 3_600_000

/** Events of one user, or of the server; the oldest go first. */
const maxPerOwner = 20_000

/** Events that one run deletes at most for their age, which limits the damage of a wrong clock. */
const atOnce = 1000

export function dropOldNotices(db: Db) {
  const old = db
    .select({ id: events.id })
    .from(events)
    .where(lt(events.createdAt, new Date(Date.now() - kept)))
    .orderBy(asc(events.id))
    .limit(atOnce)
  db.delete(events).where(inArray(events.id, old)).run()
  const crowded = db
    .select({ ownerId: events.ownerId })
    .from(events)
    .groupBy(events.ownerId)
    .having(gt(count(), maxPerOwner))
    .all()
  for (const { ownerId } of crowded) {
    const ofOwner = ownerId === null ? isNull(events.ownerId) : eq(events.ownerId, ownerId)
    const newest = db
      .select({ id: events.id })
      .from(events)
      .where(ofOwner)
      .orderBy(desc(events.id))
      .limit(maxPerOwner)
    db.delete(events)
      .where(and(ofOwner, notInArray(events.id, newest)))
      .run()
  }
}

/** Those of projects and services that get another owner. */
export const giveEvents = (tx: Tx, { from, to }: { from: string; to: string }) =>
  tx
    .update(events)
    .set({ ownerId: to })
    .where(
      and(eq(events.ownerId, from), or(isNotNull(events.projectId), isNotNull(events.serviceId))),
    )
    .run()
