import { eq } from 'drizzle-orm'
import { getRow } from '../db/queries.ts'
import type { Db, Tx } from '../db/index.ts'
import { channels, users } from '../db/schema.ts'
import type { Secrets } from '../platform/secrets.ts'
import { sealedAs } from '../resources/store.ts'

export type Channel = typeof channels.$inferSelect
export type ChannelKind = Channel['kind']

export const sealedFields = ['webhookUrl', 'secret', 'token', 'userKey', 'password'] as const

/** With its owner. */
export const getChannel = (db: Db, id: string) =>
  db
    .select({ channel: channels, owner: users })
    .from(channels)
    .innerJoin(users, eq(users.id, channels.ownerId))
    .where(eq(channels.id, id))
    .get()

export const findChannel = (db: Tx, id: string) => getRow(db, channels, eq(channels.id, id))

/** With its secrets, which only its sender may see. */
export function opened(secrets: Secrets, channel: Channel): Channel {
  const open = sealedFields.map((name) => {
    const sealed = channel[name]
    return [name, sealed === null ? null : secrets.open(sealed, sealedAs('channel', channel.id))]
  })
  return { ...channel, ...Object.fromEntries(open) }
}
