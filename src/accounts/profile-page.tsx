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
type FormProps = Profile & { draft?: Draft | undefined }
/** The input of the form with errors. */
export type Drafts = { profile?: Draft; password?: Draft; link?: Draft }

export const ProfilePage = ({
  events,
  linked,
  provider,
  drafts = {},
  ...profile
}: Profile & {
  events: AuditEvent[]
  linked: Identity[]
  /** The configured login provider. */
  provider: ProviderName | null
  drafts?: Drafts | undefined
}) => (
  <SettingsFrame user={profile.user} path="/settings/profile">
    <div class="settings">
      <ProfileForm {...profile} draft={drafts.profile} />
      <PasswordForm {...profile} draft={drafts.password} />
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
        about="Actions with your account. Check for anything you don’t recognise."
      >
        {events.length > 0 ? <EventList events={events} /> : <p class="muted">Nothing yet.</p>}
      </SettingsSection>
    </div>
  </SettingsFrame>
)

export const ProfileForm = ({ user, hasPassword, draft = emptyDraft }: FormProps) => (
  <SettingsForm
    id="profile"
    title="You"
    about="You log in with your e-mail address."
    action="/settings/profile"
    draft={draft}
  >
    <EmailField value={user.email} hint="A new e-mail address ends your other sessions." />
    <TextField
      name="name"
      label="Name"
      value={user.name}
      hint="Shown in lists and in the audit log. Leave empty to use your e-mail address."
      autocomplete="name"
    />
    {hasPassword && (
      <CurrentPassword id="profile-password" hint="Only to change your e-mail address." optional />
    )}
  </SettingsForm>
)

export const PasswordForm = ({ user, hasPassword, draft = emptyDraft }: FormProps) => (
  <SettingsForm
    id="password"
    title="Password"
    about="A new password ends your other sessions. API tokens stay valid: revoke any that others may know."
    action="/settings/password"
    draft={draft}
    label={hasPassword ? 'Change password' : 'Set password'}
  >
    <input type="text" name="" value={user.email} autocomplete="username" hidden />
    {hasPassword && <CurrentPassword id="password-current" />}
    <NewPassword label="New password" />
  </SettingsForm>
)
