import type { Config } from '../config.ts'
import type { Db } from '../db/index.ts'
import { AppError } from '../platform/errors.ts'
import { refuseMore } from '../platform/limits.ts'
import { hashToken, randomToken } from '../platform/secrets.ts'
import type { User } from '../web/factory.ts'
import { countOpenInvites, insertInvite } from './store.ts'

/** Milliseconds in which an invitation can be taken up. */
const lifetime = 7 * 24 * 3_600_000

type InviteDeps = { db: Db; config: Config }

/** Makes an invitation; its token is known only here and to whoever gets the link. */
export function makeInvite({ db, config }: InviteDeps, { id: createdBy }: User) {
  const off = whyNoInvites(config)
  if (off) throw new AppError('conflict', off)
  refuseMore('invites', countOpenInvites(db, createdBy))
  const token = randomToken()
  const expiresAt = new Date(Date.now() + lifetime)
  return { token, invite: insertInvite(db, { tokenHash: hashToken(token), createdBy, expiresAt }) }
}

/** Why an invitation would be of no use, or null. */
export const whyNoInvites = ({ registration }: Config) =>
  registration === 'invite'
    ? null
    : `Registration is ${registration} here. Invitations work once DAVIT_REGISTRATION is invite.`
