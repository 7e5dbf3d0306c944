import { EventList } from '../audit/event-list.tsx'
import type { AuditEvent } from '../audit/store.ts'
import type { User } from '../web/factory.ts'
import { TextField } from '../web/fields-view.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { SettingsForm, SettingsFrame, SettingsSection } from '../web/settings-frame.tsx'
import { CurrentPassword, EmailField, NewPassword } from './login-fields.tsx'
import type { Identity } from './identity-store.ts'
import { LinkedLogins } from './linked-logins.tsx'
import type { ProviderName } from './oauth-provider.ts'

type Profile = { user: User; hasPassword: boolean }
type FormProps = Profile & { draft?: Draft | undefined; saved?: boolean }
/** What was typed into the form that was refused. */
export type Drafts = { profile?: Draft; password?: Draft; link?: Draft }

export const ProfilePage = ({
  events,
  linked,
  provider,
  saved,
  drafts = {},
  ...profile
}: Profile & {
  events: AuditEvent[]
  linked: Identity[]
  /** The one that this Davit logs in with. */
  provider: ProviderName | null
  /** Which of the forms was just saved. */
  saved: string | undefined
  drafts?: Drafts | undefined
}) => (
  <SettingsFrame user={profile.user} path="/settings/profile">
    <div class="settings">
      <ProfileForm {...profile} draft={drafts.profile} saved={saved === 'profile'} />
      <PasswordForm {...profile} draft={drafts.password} saved={saved === 'password'} />
      {(provider || linked.length > 0) && (
        <LinkedLogins
          linked={linked}
          provider={provider}
          hasPassword={profile.hasPassword}
          draft={drafts.link}
        />
      )}
      <SettingsSection
        id="activity"
        title="Recent activity"
        about="What was done with your account. Is anything not yours?"
      >
        {events.length > 0 ? <EventList events={events} /> : <p class="muted">Nothing yet.</p>}
      </SettingsSection>
    </div>
  </SettingsFrame>
)

export const ProfileForm = ({
  user,
  hasPassword,
  draft = emptyDraft,
  saved = false,
}: FormProps) => (
  <SettingsForm
    id="profile"
    title="You"
    about="Your e-mail address is what you log in with."
    action="/settings/profile"
    draft={draft}
    saved={saved && 'Saved'}
  >
    <EmailField value={user.email} hint="A new address ends your other sessions." />
    <TextField name="name" label="Name" value={user.name} autocomplete="name" maxlength={100} />
    {hasPassword && <CurrentPassword id="profile-password" />}
  </SettingsForm>
)

export const PasswordForm = ({
  user,
  hasPassword,
  draft = emptyDraft,
  saved = false,
}: FormProps) => (
  <SettingsForm
    id="password"
    title="Password"
    about="A new one ends your other sessions. API tokens stay: revoke those that others may know."
    action="/settings/password"
    draft={draft}
    label={hasPassword ? 'Change the password' : 'Set a password'}
    saved={saved && 'Changed, and your other sessions are ended'}
  >
    <input type="text" name="" value={user.email} autocomplete="username" hidden />
    {hasPassword && <CurrentPassword id="password-current" />}
    <NewPassword label="New password" />
  </SettingsForm>
)
