import { EmptyState } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { Invite } from './store.ts'

type Invites = {
  invites: Invite[]
  /** Why there are no invitations to make; null when there are. */
  off: string | null
  /** The link of the invitation just made; it can't be shown again. */
  link?: string | undefined
}

export const InvitesPage = ({ user, ...list }: Invites & { user: User }) => (
  <SettingsFrame user={user} path="/settings/invites">
    <InviteList {...list} />
  </SettingsFrame>
)

export const InviteList = ({ invites, off, link }: Invites) => (
  <section id="invites" aria-label="Invitations">
    <div class="section-head">
      <p class="muted">
        An invitation is a link with which one person can register, once, within 7 days.
      </p>
      {!off && <NewInvite />}
    </div>
    {link && (
      <div class="alert" role="status">
        <strong>Send this link to the person you invite. It is shown only now.</strong>
        <section>
          <code>{link}</code>
        </section>
      </div>
    )}
    {invites.length === 0 ? (
      <EmptyState title="No open invitations">{off && <p>{off}</p>}</EmptyState>
    ) : (
      <ul class="rows">
        {invites.map((invite) => (
          <InviteRow invite={invite} />
        ))}
      </ul>
    )}
  </section>
)

/** A native form: its answer is the page with the link, which a redirect would lose. */
const NewInvite = () => (
  <PostForm action="/settings/invites">
    <Button>Create invitation</Button>
  </PostForm>
)

const InviteRow = ({ invite }: { invite: Invite }) => (
  <li>
    <div>
      Created <Ago at={invite.createdAt} />
      <p class="muted">Expires on {invite.expiresAt.toISOString().slice(0, 10)}</p>
    </div>
    <DeleteButton
      path={`/settings/invites/${invite.id}`}
      label={`Revoke the invitation that expires on ${invite.expiresAt.toISOString().slice(0, 10)}`}
      target="#invites"
      swap="outerHTML"
    >
      Revoke
    </DeleteButton>
  </li>
)
