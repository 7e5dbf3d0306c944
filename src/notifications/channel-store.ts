import { and, desc, eq, gt, isNotNull, isNull, ne, or } from 'drizzle-orm'
import { getRow, listRows } from '../db/queries.ts'
import type { Db, Tx } from '../db/index.ts'
import { channels, outbox, users } from '../db/schema.ts'
import { changeParcels, isWaiting } from './outbox-store.ts'

export { channelKinds } from '../db/schema.ts'

export type Channel = typeof channels.$inferSelect

export const getChannel = (db: Db, id: string) =>
  db
    .select({ channel: channels, owner: users })
    .from(channels)
    .innerJoin(users, eq(users.id, channels.ownerId))
    .where(eq(channels.id, id))
    .get()

/** What was sent to it last, or couldn't be. */
export const getLastDelivery = (db: Db, channelId: string) =>
  getRow(
    db,
    outbox,
    and(
      eq(outbox.channelId, channelId),
      ne(outbox.status, 'dropped'),
      or(ne(outbox.status, 'waiting'), gt(outbox.tries, 0)),
    ),
    desc(outbox.id),
  )

/** Who is added to a channel gets, with its next attempt, also what others of its recipients already have. */
export function addRecipients(db: Db, { id: channelId, to: before }: Channel, to: string[]) {
  const added = to.filter((one) => !before?.includes(one))
  if (added.length === 0) return
  const isPartly = and(eq(outbox.channelId, channelId), isWaiting, isNotNull(outbox.left))
  for (const { id, left } of listRows(db, outbox, isPartly))
    changeParcels(db, eq(outbox.id, id), { left: [...new Set([...left!, ...added])] })
}

/** The one that sends invitations and password resets: an admin's newest that may. */
export const getAccountMailChannel = (db: Tx) =>
  db
    .select({ channel: channels })
    .from(channels)
    .innerJoin(users, eq(users.id, channels.ownerId))
    .where(
      and(
        eq(channels.kind, 'email'),
        eq(channels.accountMail, true),
        eq(users.role, 'admin'),
        isNull(users.disabledAt),
      ),
    )
    .orderBy(desc(channels.id))
    .limit(1)
    .get()?.channel
