import { and, asc, eq, gt, inArray, isNotNull, isNull, lt, lte, ne, or, sql } from 'drizzle-orm'
import type { SQL } from 'drizzle-orm'
import type { SQLiteUpdateSetSource } from 'drizzle-orm/sqlite-core'
import type { Db, Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { asWriter, countRows, getRow } from '../db/queries.ts'
import { channels, events, outbox, users } from '../db/schema.ts'

export type Parcel = typeof outbox.$inferSelect
export type ParcelKind = Parcel['kind']

type Changes = SQLiteUpdateSetSource<typeof outbox>

export const changeParcels = (tx: Tx, where: SQL | undefined, changes: Changes) =>
  tx.update(outbox).set(changes).where(where).run()

const oneMoreTry = sql`${outbox.tries} + 1`

export const isWaiting = eq(outbox.status, 'waiting')
export const isUnsent = inArray(outbox.status, ['failed', 'dropped'])
const inLane = (lane: string) => and(isWaiting, eq(outbox.lane, lane))
const isLater = isNotNull(outbox.nextAt)
const isDue = (now: number) => or(isNull(outbox.nextAt), lte(outbox.nextAt, new Date(now)))

export const insertNotices = (
  tx: Tx,
  to: { id: string; ownerId: string }[],
  { eventId, nextAt }: { eventId: string; nextAt: Date | null },
) => {
  if (to.length === 0) return
  const rows = to.map(({ id, ownerId }) => ({ ownerId, lane: id, channelId: id }))
  tx.insert(outbox)
    .values(rows.map((row) => ({ ...row, kind: 'notice' as const, eventId, nextAt })))
    .run()
}

/** Once for each subject: what is sent is read when it is sent. */
export function insertStatus(
  tx: Tx,
  { ownerId, lane, subjectId }: { ownerId: string; lane: string; subjectId: string },
) {
  if (getRow(tx, outbox, and(eq(outbox.subjectId, subjectId), isWaiting))) return
  tx.insert(outbox).values({ kind: 'commit_status', ownerId, lane, subjectId }).run()
}

/** A mail with a link: an invitation, or a new password. */
export const insertAccountMail = (
  tx: Tx,
  { ownerId, subjectId }: { ownerId: string; subjectId: string },
) => tx.insert(outbox).values({ kind: 'account_mail', ownerId, lane: subjectId, subjectId }).run()

/**
 * Where something waits, with the time when its first is due, in milliseconds. Steps from lane to lane in an index:
 * one may have ten thousand.
 */
export const listLanes = (db: Db) =>
  db.all<{ lane: string; kind: ParcelKind; ownerId: string; at: number }>(sql`
    WITH RECURSIVE lanes (lane) AS (
      SELECT min(lane) FROM outbox WHERE status = 'waiting'
      UNION ALL
      SELECT (SELECT min(lane) FROM outbox WHERE status = 'waiting' AND lane > lanes.lane)
      FROM lanes WHERE lanes.lane IS NOT NULL
    )
    SELECT first.lane, first.kind, first.owner_id AS ownerId, coalesce(first.next_at, 0) AS at
    FROM lanes JOIN outbox AS first ON first.id = (
      SELECT id FROM outbox WHERE status = 'waiting' AND lane = lanes.lane
      ORDER BY kind, owner_id, next_at LIMIT 1
    )`)

export type Lane = ReturnType<typeof listLanes>[number]

/** The oldest. */
export const listDue = (db: Db, lane: string, { now, limit }: { now: number; limit: number }) =>
  db
    .select()
    .from(outbox)
    .where(and(inLane(lane), isDue(now)))
    .orderBy(asc(outbox.id))
    .limit(limit)
    .all()

export type Claimed = { messageId: string; lane: string; first: Parcel; count: number }

/** Another than that message: the one that was tried least. */
const getBehind = (db: Db, { lane, messageId }: Claimed, now: number) =>
  getRow(
    db,
    outbox,
    and(inLane(lane), isDue(now), or(isNull(outbox.messageId), ne(outbox.messageId, messageId))),
    ...[asc(outbox.tries), asc(outbox.id)],
  )

/**
 * Marks what is sent now as one message, before it is: after a kill the next process knows that it may have
 * arrived. One that was tried before is sent again as it was.
 */
export function claim(
  db: Db,
  lane: string,
  { now, most, suspect }: { now: number; most: number; suspect: Claimed | undefined },
): Claimed | undefined {
  return asWriter(db, () => {
    const first = suspect ? getBehind(db, suspect, now) : listDue(db, lane, { now, limit: 1 })[0]
    if (!first) return undefined
    const messageId = first.messageId ?? newId()
    const rows = db
      .select({ id: outbox.id })
      .from(outbox)
      .where(
        first.messageId
          ? and(inLane(lane), eq(outbox.messageId, messageId))
          : first.left
            ? eq(outbox.id, first.id) // the others of the lane are for all its recipients
            : and(inLane(lane), isDue(now), isNull(outbox.messageId), isNull(outbox.left)),
      )
      .orderBy(asc(outbox.id))
      .limit(first.messageId ? -1 : most)
    changeParcels(db, inArray(outbox.id, rows), { status: 'sending', messageId, nextAt: null })
    const claimed = { messageId, lane, first }
    return { ...claimed, count: countRows(db, outbox, beingSent(claimed)) }
  })
}

const beingSent = ({ messageId, lane }: Pick<Claimed, 'messageId' | 'lane'>) =>
  and(eq(outbox.status, 'sending'), eq(outbox.lane, lane), eq(outbox.messageId, messageId))

export const setSent = (tx: Tx, claimed: Claimed, { answer, at }: { answer: string; at: Date }) =>
  changeParcels(tx, beingSent(claimed), { status: 'sent', answer, sentAt: at })

/** For what has no log. */
export const deleteSent = (tx: Tx, claimed: Claimed) =>
  tx.delete(outbox).where(beingSent(claimed)).run()

type Retry = {
  reason: string
  nextAt: Date
  uncertain: boolean
  left: string[] | undefined
}

/** What else is in the lane waits behind it. */
export const setWaiting = (tx: Tx, claimed: Claimed, { reason, nextAt, uncertain, left }: Retry) =>
  changeParcels(tx, beingSent(claimed), {
    ...{ status: 'waiting', nextAt, answer: reason, tries: oneMoreTry },
    ...(uncertain && { uncertain }),
    ...(left && { left }),
  })

/** What waits since before that time: of a message, or all of its lane. */
export function giveUp(
  tx: Tx,
  { lane, messageId }: Claimed,
  { reason, before, all }: { reason: string; before: Date; all: boolean },
) {
  const isIts = all ? undefined : eq(outbox.messageId, messageId)
  const isOld = and(inLane(lane), lt(outbox.createdAt, before), isIts)
  changeParcels(tx, isOld, { status: 'failed', answer: reason })
}

export const setFailed = (tx: Tx, claimed: Claimed, reason: string) =>
  changeParcels(tx, beingSent(claimed), { status: 'failed', answer: reason, tries: oneMoreTry })

/** Of what has no log. Returns it. */
export const deleteFailed = (tx: Tx, lane: string) =>
  tx
    .delete(outbox)
    .where(and(eq(outbox.lane, lane), eq(outbox.status, 'failed')))
    .returning()
    .all()

export const dropLane = (tx: Tx, lane: string, reason: string) =>
  changeParcels(tx, inLane(lane), { status: 'dropped', answer: reason })

/**
 * Of the oldest that are due in a channel: what has another owner by now, or is the server's while its owner is no
 * admin. False when there is none.
 */
export function dropForeign(
  tx: Tx,
  channelId: string,
  { reason, now, limit }: { reason: string; now: number; limit: number },
) {
  const oldest = tx
    .select({ id: outbox.id })
    .from(outbox)
    .where(and(inLane(channelId), isDue(now)))
    .orderBy(asc(outbox.id))
    .limit(limit)
  const foreign = tx
    .select({ id: outbox.id })
    .from(outbox)
    .innerJoin(events, eq(events.id, outbox.eventId))
    .innerJoin(channels, eq(channels.id, outbox.channelId))
    .innerJoin(users, eq(users.id, channels.ownerId))
    .where(
      and(
        inArray(outbox.id, oldest),
        or(
          and(isNull(events.ownerId), ne(users.role, 'admin')),
          and(isNotNull(events.ownerId), ne(events.ownerId, channels.ownerId)),
        ),
      ),
    )
  const dropped = tx
    .update(outbox)
    .set({ status: 'dropped', answer: reason })
    .where(inArray(outbox.id, foreign))
    .returning({ id: outbox.id })
    .all()
  return dropped.length > 0
}

/**
 * What the last process was sending may have arrived. What failed is tried before what is newer: only that process
 * knew how long the lane had to wait.
 */
export function recoverSending(db: Db) {
  const isSending = eq(outbox.status, 'sending')
  changeParcels(db, isSending, { status: 'waiting', uncertain: true, nextAt: null })
  retryFailed(db)
}

/** What failed is due now. */
export function retryFailed(tx: Tx, lane?: string) {
  const isIn = lane === undefined ? isWaiting : inLane(lane)
  changeParcels(tx, and(isIn, isLater, gt(outbox.tries, 0)), { nextAt: null })
}

/** For when the clock was set: all is due now. */
export const expedite = (tx: Tx) => changeParcels(tx, and(isWaiting, isLater), { nextAt: null })

/** As if it was just stored. */
export const renewed = () =>
  ({ status: 'waiting', tries: 0, nextAt: null, messageId: null, createdAt: new Date() }) as const

/** What failed on a user's channels is due again. Returns their lanes. */
export const sendAgain = (tx: Tx, { eventId, ownerId }: { eventId: string; ownerId: string }) =>
  tx
    .update(outbox)
    .set(renewed())
    .where(
      and(eq(outbox.eventId, eventId), eq(outbox.ownerId, ownerId), eq(outbox.status, 'failed')),
    )
    .returning({ lane: outbox.lane })
    .all()
    .map(({ lane }) => lane)

/** What an event says to these channels. */
export const isTo = (to: { id: string }[], eventId: string) => {
  const ids = to.map(({ id }) => id)
  return and(eq(outbox.eventId, eventId), inArray(outbox.channelId, ids))
}

/** What wasn't sent to these channels, and was stored before that time, is due again. */
export function renewUnsent(
  tx: Tx,
  to: { id: string }[],
  { eventId, before }: { eventId: string; before: Date },
) {
  changeParcels(tx, and(isTo(to, eventId), isUnsent, lt(outbox.createdAt, before)), renewed())
}
