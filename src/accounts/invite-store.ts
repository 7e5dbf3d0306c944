import { and, eq, gt, isNull } from 'drizzle-orm'
import type { Db, Tx } from '../db/index.ts'
import { newId } from '../db/new-id.ts'
import { insertAccountMail } from '../notifications/outbox-store.ts'
import type { Config } from '../config.ts'
import { countRows, getRow } from '../db/queries.ts'
import { invites, outbox } from '../db/schema.ts'
import { AppError } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { hashToken } from '../platform/secrets.ts'
import type { Secrets } from '../platform/secrets.ts'
import { linkToken } from './link-token.ts'

/** In milliseconds. */
const lifetime = 7 * 24 * 3_600_000

/** The token is only in the link, which is mailed if there is an address. */
export function makeInvite(
  { db, secrets, config }: { db: Db; secrets: Secrets; config: Config },
  { createdBy, email = null }: { createdBy: string; email?: string | null },
) {
  const off = whyNoInvites(config)
  if (off) throw new AppError('conflict', off)
  refuseMore('invites', countRows(db, invites, and(eq(invites.createdBy, createdBy), isOpen())))
  const id = newId()
  const token = linkToken(secrets, id)
  const expiresAt = new Date(Date.now() + lifetime)
  const values = { id, tokenHash: hashToken(token), createdBy, email, expiresAt }
  return db.transaction((tx) => {
    const invite = tx.insert(invites).values(values).returning().get()
    if (email) insertAccountMail(tx, { ownerId: createdBy, subjectId: id })
    return { token, invite }
  })
}

export const whyNoInvites = ({ registration }: Config) =>
  registration === 'invite'
    ? null
    : `Registration is ${registration} here. Invitations work once DAVIT_REGISTRATION is invite.`

export const isOpen = () => and(isNull(invites.usedAt), gt(invites.expiresAt, new Date()))

/** Also one that has expired. */
export const findUnusedInvite = (db: Tx, id: string) =>
  getRow(db, invites, and(eq(invites.id, id), isNull(invites.usedAt)))

/** Undefined once it was sent or given up. */
export const findUnsentMail = (db: Tx, inviteId: string) =>
  getRow(db, outbox, eq(outbox.subjectId, inviteId))

export const getOpenInvite = (db: Tx, token: string | null | undefined) =>
  token ? getRow(db, invites, and(eq(invites.tokenHash, hashToken(token)), isOpen())) : undefined

/** Those of someone who may invite no one any more. */
export const deleteOpenInvitesOf = (db: Tx, createdBy: string) =>
  db
    .delete(invites)
    .where(and(eq(invites.createdBy, createdBy), isOpen()))
    .run()

export const setInviteUsed = (db: Tx, id: string) =>
  db.update(invites).set({ usedAt: new Date() }).where(eq(invites.id, id)).run()
