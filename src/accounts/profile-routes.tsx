import type { Context } from 'hono'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { auditor } from '../audit/record.ts'
import { listEvents } from '../audit/store.ts'
import type { Db } from '../db/index.ts'
import { asWriter } from '../db/queries.ts'
import { AppError } from '../platform/errors.ts'
import { factory } from '../web/factory.ts'
import type { Env, User } from '../web/factory.ts'
import { input } from '../web/input.ts'
import type { Draft } from '../web/draft.ts'
import { moveOn, show } from '../web/respond.tsx'
import { userOf } from '../web/user-of.ts'
import { linkForm, passwordForm, profileForm } from './forms.ts'
import { countIdentities, deleteOwnIdentity, listIdentities } from './identity-store.ts'
import { userJson } from './json.ts'
import { LinkForm, LinkedLogins } from './linked-logins.tsx'
import { confirmPassword, findUnchanged } from './log-in.ts'
import { authorizationUrl, findOAuthSettings } from './oauth.ts'
import { hashPassword } from './passwords.ts'
import { deleteResetsOf } from './reset-store.ts'
import { startSession } from './session.ts'
import type { AccountDeps } from './session.ts'
import { deleteOtherSessions, deleteSessionsOf, findUser, updateUser } from './store.ts'
import { EventList } from '../audit/event-list.tsx'
import { TextField } from '../web/fields-view.tsx'
import { emptyDraft } from '../web/draft.ts'
import { SettingsForm, SettingsFrame, SettingsSection } from '../web/settings-frame.tsx'
import { CurrentPassword, EmailField, NewPassword } from './login-fields.tsx'

const shownEvents = 10

/** For sessions, never tokens. A new e-mail address ends the user's other sessions, a new password all. */
export const profileRoutes = (deps: AccountDeps) => {
  const { db, config } = deps
  const audit = auditor(db)

  return factory
    .createApp()
    .get('/settings/profile', (c) => show(c, profile(c)))
    .put('/settings/profile', input(profileForm, again('profile', ProfileForm)), async (c) => {
      const { currentPassword, ...wanted } = c.var.input
      const current = findUser(db, userOf(c).id)
      const changesLogin = wanted.email !== undefined && wanted.email !== current.email
      const before =
        changesLogin || currentPassword
          ? await confirmPassword(db, { ...from(c), currentPassword })
          : current
      const user = db.transaction((tx) => {
        const changed = updateUser(tx, before.id, wanted)
        if (changed.email !== before.email) deleteResetsOf(tx, changed.id)
        if (changed.email !== before.email)
          deleteOtherSessions(tx, { userId: changed.id, id: c.var.session!.id })
        return changed
      })
      const { id, email, name } = user
      if (email !== before.email)
        audit(c, 'email.changed', { object: { kind: 'user', id, name: email } })
      if (name !== before.name) audit(c, 'profile.changed', { object: { kind: 'user', id, name } })
      return moveOn(c, {
        to: '/settings/profile',
        said: 'Profile saved.',
        json: () => userJson(user),
      })
    })
    .put('/settings/password', input(passwordForm, again('password', PasswordForm)), async (c) => {
      const { password, currentPassword } = c.var.input
      const confirmed = await confirmPassword(db, { ...from(c), currentPassword })
      const passwordHash = await hashPassword(password)
      const user = asWriter(db, (tx) => {
        const { id } = findUnchanged(tx, confirmed)
        deleteSessionsOf(tx, id)
        deleteResetsOf(tx, id)
        return updateUser(tx, id, { passwordHash })
      })
      audit(c, 'password.changed')
      startSession(c, deps, user)
      const said = 'Password changed. Your other sessions were ended.'
      return moveOn(c, { to: '/settings/profile', said, json: () => userJson(user) })
    })
    .post('/settings/identities', input(linkForm, again('link', linkFormOf)), async (c) => {
      findOAuthSettings(deps)
      const { id } = await confirmPassword(db, { ...from(c), ...c.var.input })
      const url = authorizationUrl(c, deps, id)
      return moveOn(c, { to: url, json: () => ({ url }) })
    })
    .delete('/settings/identities/:id', (c) => {
      const { id, login } = unlink(db, { id: c.req.param('id'), userId: userOf(c).id })
      audit(c, 'identity.unlinked', { object: { kind: 'identity', id, name: login } })
      return moveOn(c, { to: '/settings/profile', said: 'Login unlinked.', json: () => ({}) })
    })

  function profile(c: Context, drafts: Drafts = {}) {
    const of = known(c)
    const user = findUser(db, userOf(c).id)
    const page = { limit: shownEvents }
    const events = listEvents(db, { filter: { actorId: user.id }, page }).slice(0, shownEvents)
    const linked = listIdentities(db, user.id)
    const provider = config.oauth?.provider ?? null
    return {
      title: 'Profile',
      page: () => (
        <SettingsFrame user={of.user} path="/settings/profile">
          <div class="settings">
            <ProfileForm {...of} draft={drafts.profile} />
            <PasswordForm {...of} draft={drafts.password} />
            {(provider || linked.length > 0) && (
              <LinkedLogins {...{ ...of, linked, provider }} draft={drafts.link} />
            )}
            <SettingsSection
              id="activity"
              title="Recent activity"
              about="Actions with your account. Check for anything you don’t recognise."
            >
              {events.length > 0 ? (
                <EventList events={events} />
              ) : (
                <p class="muted">Nothing yet.</p>
              )}
            </SettingsSection>
          </div>
        </SettingsFrame>
      ),
      json: () => userJson(user),
    }
  }

  /** Shows the form with its errors, alone or in its page. */
  function again(name: keyof Drafts, form: (props: FormProps) => JSX.Element) {
    return (c: Context, draft: Draft) => ({
      ...profile(c, { [name]: draft }),
      partial: () => form({ ...known(c), draft }),
    })
  }

  function linkFormOf(props: FormProps) {
    return <LinkForm {...props} provider={findOAuthSettings(deps).provider} />
  }

  function known(c: Context) {
    const user = userOf(c)
    return { user, hasPassword: findUser(db, user.id).passwordHash !== null }
  }
}

function from(c: Context) {
  return { userId: userOf(c).id, address: (c as Context<Env>).var.address }
}

const unlink = (db: Db, key: { id: string; userId: string }) =>
  db.transaction(() => {
    const gone = deleteOwnIdentity(db, key)
    if (findUser(db, key.userId).passwordHash === null && countIdentities(db, key.userId) === 0)
      throw new AppError(
        'conflict',
        'This is the only way you can log in. Set a password first, then unlink it.',
      )
    return gone
  })

type FormProps = { user: User; hasPassword: boolean; draft?: Draft | undefined }
/** The input of the form with errors. */
type Drafts = { profile?: Draft; password?: Draft; link?: Draft }

const ProfileForm = ({ user, hasPassword, draft = emptyDraft }: FormProps) => (
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

const PasswordForm = ({ user, hasPassword, draft = emptyDraft }: FormProps) => (
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
