import { originOf } from '../config.ts'
import type { Db, Tx } from '../db/index.ts'
import { getAccountMailChannel } from '../notifications/channel-store.ts'
import { sendTo } from '../notifications/deliver.ts'
import type { DeliverDeps } from '../notifications/deliver.ts'
import type { Handler } from '../notifications/outbox.ts'
import { SendFailure } from '../notifications/senders/sender.ts'
import { invitation, passwordReset } from '../notifications/texts.ts'
import { journal } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { findInvite } from './invite-store.ts'
import { linkToken } from './link-token.ts'
import { getResetById } from './reset-store.ts'

/** True when an admin set a channel for them. */
export const sendsAccountMail = (db: Tx) => getAccountMailChannel(db) !== undefined

export const accountMailHandler = (deps: DeliverDeps): Handler => ({
  isKept: false,
  plan: () => ({ most: 1 }),
  async send({ messageId, first }, signal) {
    const mail = mailOf(deps, first.subjectId!)
    if (!mail) return { answer: 'It was over before it was sent.' }
    const channel = getAccountMailChannel(deps.db)
    if (!channel) throw noChannel
    const { to, url, ...said } = mail
    return sendTo(
      deps,
      channel,
      {
        ...{ id: messageId, kind: 'account', level: 'info', at: first.createdAt },
        ...{ ...said, only: [to], url: originOf(deps.config) + url },
      },
      signal,
    )
  },
  failed: (_, reason) => journal.warn('a mail of an account was not sent', { reason }),
})

const noChannel = new SendFailure('no_channel', 'No channel sends mails of accounts.', '', {
  retry: false,
})

/** Undefined once it was used, revoked or has expired. */
function mailOf({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const token = linkToken(secrets, id)
  const reset = getResetById(db, id)
  if (reset)
    return { to: reset.user.email, url: `/auth/password?reset=${token}`, ...passwordReset() }
  const invite = findInvite(db, id)
  if (!invite?.email) return undefined
  return { to: invite.email, url: `/auth/register?invite=${token}`, ...invitation(invite) }
}
