import { EmptyState, ShownOnce } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { Invite } from './invite-store.ts'

type Invites = {
  invites: Invite[]
  /** Why there are no invitations to make; null when there are. */
  off: string | null
  /** The link of the invitation just made; it can't be shown again. */
  link?: string | undefined
}

export const InviteList = ({ invites, off, link }: Invites) => (
  <SettingsList
    id="invites"
    aria-label="Invitations"
    about="An invitation is a link with which one person can register, once, within 7 days."
    action={!off && <NewInvite />}
    rows={invites.map((invite) => (
      <InviteRow invite={invite} />
    ))}
    empty={<EmptyState title="No open invitations">{off && <p>{off}</p>}</EmptyState>}
  >
    {link && (
      <ShownOnce text={link}>
        Send this link to the person you invite. It is shown only now.
      </ShownOnce>
    )}
  </SettingsList>
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
