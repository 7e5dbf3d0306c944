import { z } from 'zod'
import { invites } from '../db/schema.ts'
import { rowJson } from '../resources/json.ts'
import { invalidField } from '../platform/errors.ts'
import { resource } from '../resources/resource.ts'
import { componentOf } from '../web/operation.ts'
import { requestOrigin } from '../web/own-host.ts'
import { Badge } from '../web/status-badge.tsx'
import { Ago, Day } from '../web/times.tsx'
import { userOf } from '../web/user-of.ts'
import { mailStateOf, sendsAccountMail } from './account-mail.ts'
import { inviteForm } from './forms.ts'
import { isOpen, makeInvite, whyNoInvites } from './invite-store.ts'
import type { AccountDeps } from './session.ts'

const mail = componentOf('InviteMail', () => ({
  status: z.enum(['waiting', 'failed', 'sent']),
  answer: z.string().nullable(),
}))

const json = rowJson('Invite', invites, ['email', 'expiresAt'], () => ({ mail: mail().nullable() }))

export const invite = resource({
  kind: 'invite',
  noun: 'invitation',
  plural: 'open invitations',
  path: '/settings/invites',
  title: 'Invitations',
  part: 'Administration',
  table: invites,
  adminOnly: true,
  where: isOpen,
  json,
  about: 'An invitation is a link that lets one person register within 7 days.',
  none: 'No open invitations',
  empty: 'Create a link, and send it to the person who is to have an account here.',
  see: ({ db }: AccountDeps, row) => ({ ...row, mail: mailStateOf(db, row) }),
  row: ({ createdAt, expiresAt, email, mail }) => ({
    title: ['Created ', <Ago at={createdAt} />],
    since: null,
    label: `the invitation that expires on ${expiresAt.toISOString().slice(0, 10)}`,
    facts: [
      mail && (
        <>
          {mail.status === 'failed' && <Badge {...notMailed} />} {`${words[mail.status]} ${email}`}
          {mail.answer && `: ${mail.answer}`}
        </>
      ),
      ['expires on ', <Day at={expiresAt} />],
    ],
  }),
  create: {
    verb: 'Create',
    note: '; its link is shown only once',
    schema: () => json().extend({ url: z.url() }),
    form: () => inviteForm,
    off: ({ config }: AccountDeps) => whyNoInvites(config),
    make(deps, c, { email = null }) {
      if (email && !sendsAccountMail(deps.db))
        throw invalidField('email', 'must be empty, because no e-mail channel sends invitations.')
      const { token, invite } = makeInvite(deps, { createdBy: userOf(c).id, email })
      const url = `${requestOrigin(c, deps.config)}/auth/register?invite=${token}`
      const says = 'Send this link to the person you invite. It is shown only once.'
      return { id: invite.id, extra: { url }, once: { text: url, what: 'the link', says } }
    },
  },
  remove: { verb: 'Revoke', note: '; lists the others', lists: true },
})

const notMailed = { word: 'Not mailed', tone: 'bad', icon: 'x' } as const

const words = { waiting: 'to be mailed to', failed: 'for', sent: 'mailed to' }
