import { EmptyState, ShownOnce } from '../web/components.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago, Day } from '../web/times.tsx'
import type { Invite } from './invite-store.ts'

type Invites = {
  invites: Invite[]
  /** Why no invitations can be created; null when they can. */
  off: string | null
  /** The link of the new invitation; it can't be shown again. */
  link?: string | undefined
}

export const InviteList = ({ invites, off, link }: Invites) => (
  <SettingsList
    id="invites"
    aria-label="Invitations"
    about="An invitation is a link that lets one person register within 7 days."
    action={!off && invites.length > 0 && <NewInvite />}
    rows={invites.map((invite) => (
      <InviteRow invite={invite} />
    ))}
    empty={
      <EmptyState title="No open invitations">
        <p>{off ?? 'Create a link, and send it to the person who is to have an account here.'}</p>
        {!off && <NewInvite />}
      </EmptyState>
    }
  >
    {link && (
      <ShownOnce text={link} what="the link">
        Send this link to the person you invite. It is shown only once.
      </ShownOnce>
    )}
  </SettingsList>
)

/** A native form: its response is the page with the link, which a redirect would lose. */
const NewInvite = () => (
  <PostForm action="/settings/invites">
    <Button>Create invitation</Button>
  </PostForm>
)

const InviteRow = ({ invite }: { invite: Invite }) => (
  <li>
    <div>
      Created <Ago at={invite.createdAt} />
      <p class="muted">
        Expires on <Day at={invite.expiresAt} />
      </p>
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
