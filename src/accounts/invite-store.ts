import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Tx } from '../db/index.ts'
import type { Config } from '../config.ts'
import { countRows, getRow } from '../db/queries.ts'
import { invites } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { User } from '../web/factory.ts'

/** In milliseconds. */
const lifetime = 7 * 24 * 3_600_000

/** The token is only in the link. */
export function makeInvite(
  { db, config }: { db: Tx; config: Config },
  { id: createdBy }: Pick<User, 'id'>,
) {
  const off = whyNoInvites(config)
  if (off) throw new AppError('conflict', off)
  refuseMore('invites', countRows(db, invites, and(eq(invites.createdBy, createdBy), isOpen())))
  const token = randomToken()
  const expiresAt = new Date(Date.now() + lifetime)
  const values = { tokenHash: hashToken(token), createdBy, expiresAt }
  return { token, invite: db.insert(invites).values(values).returning().get() }
}

/** Null when invitations work. */
export const whyNoInvites = ({ registration }: Config) =>
  registration === 'invite'
    ? null
    : `Registration is ${registration} here. Invitations work once DAVIT_REGISTRATION is invite.`

export const isOpen = () => and(isNull(invites.usedAt), gt(invites.expiresAt, new Date()))

/** Undefined once it is used or expired. */
export const getOpenInvite = (db: Tx, token: string | null | undefined) =>
  token ? getRow(db, invites, and(eq(invites.tokenHash, hashToken(token)), isOpen())) : undefined

export const setInviteUsed = (db: Tx, id: string) =>
  db.update(invites).set({ usedAt: new Date() }).where(eq(invites.id, id)).run()
