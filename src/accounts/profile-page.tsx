import { EventList } from '../audit/event-list.tsx'
import type { AuditEvent } from '../audit/store.ts'
import type { User } from '../web/factory.ts'
import { FormError, TextField } from '../web/fields-view.tsx'
import { PostForm, SaveRow } from '../web/form.tsx'
import { emptyDraft } from '../web/input.ts'
import type { Draft } from '../web/input.ts'
import { SettingsFrame } from '../web/settings-frame.tsx'
import { CurrentPassword } from './current-password.tsx'
import type { Identity } from './identity-store.ts'
import { LinkedLogins } from './linked-logins.tsx'
import type { ProviderName } from './oauth-provider.ts'
import { passwordLength } from './passwords.ts'

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
      <section class="settings-section" aria-labelledby="activity-heading">
        <div>
          <h2 id="activity-heading">Recent activity</h2>
          <p class="muted">What was done with your account. Is anything not yours?</p>
        </div>
        {events.length > 0 ? <EventList events={events} /> : <p class="muted">Nothing yet.</p>}
      </section>
    </div>
  </SettingsFrame>
)

export const ProfileForm = ({
  user,
  hasPassword,
  draft = emptyDraft,
  saved = false,
}: FormProps) => (
  <PostForm
    id="profile-form"
    class="settings-section"
    aria-labelledby="profile-heading"
    action="/settings/profile"
    method="PUT"
    live
    hx-swap="outerHTML"
    hx-disable="find button"
  >
    <div>
      <h2 id="profile-heading">You</h2>
      <p class="muted">Your e-mail address is what you log in with.</p>
    </div>
    <div class="form">
      <FormError draft={draft} />
      <TextField
        name="email"
        label="E-mail"
        draft={draft}
        value={user.email}
        type="email"
        autocomplete="username"
        hint="A new address ends your other sessions."
        maxlength={254}
        required
      />
      <TextField
        name="name"
        label="Name"
        draft={draft}
        value={user.name}
        autocomplete="name"
        maxlength={100}
      />
      {hasPassword && <CurrentPassword draft={draft} id="profile-password" />}
      <SaveRow saved={saved && 'Saved'} />
    </div>
  </PostForm>
)

export const PasswordForm = ({
  user,
  hasPassword,
  draft = emptyDraft,
  saved = false,
}: FormProps) => (
  <PostForm
    id="password-form"
    class="settings-section"
    aria-labelledby="password-heading"
    action="/settings/password"
    method="PUT"
    live
    hx-swap="outerHTML"
    hx-disable="find button"
  >
    <div>
      <h2 id="password-heading">Password</h2>
      <p class="muted">
        A new one ends your other sessions. API tokens stay: revoke those that others may know.
      </p>
    </div>
    <div class="form">
      <FormError draft={draft} />
      <input type="text" name="" value={user.email} autocomplete="username" hidden />
      {hasPassword && <CurrentPassword draft={draft} id="password-current" />}
      <TextField
        name="password"
        label="New password"
        draft={draft}
        type="password"
        hint={`At least ${passwordLength.min} characters, and none of the most common passwords.`}
        autocomplete="new-password"
        minlength={passwordLength.min}
        required
      />
      <SaveRow
        label={hasPassword ? 'Change the password' : 'Set a password'}
        saved={saved && 'Changed, and your other sessions are ended'}
      />
    </div>
  </PostForm>
)
