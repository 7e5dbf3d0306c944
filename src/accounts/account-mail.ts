import { originOf } from '../config.ts'
import type { Db, Tx } from '../db/index.ts'
import { getAccountMailChannel } from '../notifications/channel-store.ts'
import { sendTo } from '../notifications/deliver.ts'
import type { DeliverDeps } from '../notifications/deliver.ts'
import { emit } from '../notifications/emit.ts'
import type { Handler } from '../notifications/outbox.ts'
import { SendFailure } from '../notifications/senders/sender.ts'
import { getOpen } from '../notifications/store.ts'
import {
  accountMailFailed,
  accountMailWorks,
  invitation,
  passwordReset,
} from '../notifications/account-texts.ts'
import type { News } from '../notifications/texts.ts'
import { journal } from '../platform/journal.ts'
import type { Secrets } from '../platform/secrets.ts'
import { findUnsentMail, findUnusedInvite } from './invite-store.ts'
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
    if (mail.expiresAt <= new Date()) throw expired(first.answer)
    const channel = getAccountMailChannel(deps.db)
    if (!channel) throw noChannel
    const { to, url, said } = mail
    const { answer } = await sendTo(
      deps,
      channel,
      {
        ...{ id: messageId, kind: 'account', level: 'info', at: first.createdAt },
        ...{ ...said, only: [to], url: originOf(deps.config) + url },
      },
      signal,
    )
    return { answer, store: (tx) => note(tx, mail, accountMailWorks(mail)) }
  },
  failed(tx, { first }, { reason, isLast }) {
    const mail = isLast && mailOf(deps, first.subjectId!)
    if (mail) note(tx, mail, accountMailFailed({ ...mail, reason }))
    return () => journal.warn('a mail of an account was not sent', { reason })
  },
})

const noChannel = new SendFailure('no_channel', 'No channel sends mails of accounts.', '', {
  retry: false,
})

const expired = (lastAnswer: string | null) =>
  new SendFailure('expired', 'Its link expired before it was sent.', lastAnswer ?? '', {
    retry: false,
  })

type Mail = NonNullable<ReturnType<typeof mailOf>>

/** Undefined once it was used or revoked. */
function mailOf({ db, secrets }: { db: Db; secrets: Secrets }, id: string) {
  const token = linkToken(secrets, id)
  const found = getResetById(db, id)
  if (found) {
    const { reset, user } = found
    return {
      ...{ to: user.email, of: eventOf(user.id), isInvitation: false, expiresAt: reset.expiresAt },
      ...{ url: `/auth/password?reset=${token}`, said: passwordReset() },
    }
  }
  const invite = findUnusedInvite(db, id)
  if (!invite?.email) return undefined
  return {
    ...{ to: invite.email, of: eventOf(id), isInvitation: true, expiresAt: invite.expiresAt },
    ...{ url: `/auth/register?invite=${token}`, said: invitation(invite) },
  }
}

/** Tells admins that a mail isn't sent: an invitation once, of a user's resets once until one is. */
const note = (tx: Tx, { to, of, isInvitation }: Mail, news: News) =>
  emit(tx, {
    ...{ subject: to, of, href: isInvitation ? '/settings/invites' : '/settings/channels' },
    ...news,
  })

/** Of an invitation, or of a user's password resets. */
const eventOf = (id: string) => `account_mail ${id}`

type MailState = { status: 'waiting' | 'failed' | 'sent'; answer: string | null }

/** Where the mail of an invitation stands; null without one. */
export function mailStateOf(
  db: Tx,
  { id, email }: { id: string; email: string | null },
): MailState | null {
  if (!email) return null
  const unsent = findUnsentMail(db, id)
  if (unsent)
    return { status: unsent.status === 'failed' ? 'failed' : 'waiting', answer: unsent.answer }
  const failure = getOpen(db, eventOf(id))
  return failure ? { status: 'failed', answer: failure.text } : { status: 'sent', answer: null }
}
