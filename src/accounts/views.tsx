import type { Context } from 'hono'
import { FormError, TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import type { View } from '../web/respond.tsx'
import { sendsAccountMail } from './account-mail.ts'
import { wantsSetupCode, whyClosed } from './admission.ts'
import type { AdmissionDeps } from './admission.ts'
import { isBehindForm } from './next-page.ts'
import { providerNames } from './oauth-provider.ts'
import { CurrentPassword, EmailField, NewPassword } from './login-fields.tsx'
import type { AccountDeps } from './session.ts'
import { hasUsers } from './store.ts'

type ViewDeps = AccountDeps & AdmissionDeps

export const loginView =
  (deps: ViewDeps) =>
  (c: Context, draft: Draft): View => ({
    title: 'Log in',
    page: () => (
      <>
        <h1>Log in</h1>
        {isBehindForm(c, deps) && (
          <p class="note" role="status">
            Your session had ended, so the form you sent wasn’t saved. Log in to go back to it.
          </p>
        )}
        <PostForm action="/auth/login" class="form" draft={draft}>
          <FormError />
          <EmailField autofocus={!draft.values['email']} />
          <CurrentPassword
            name="password"
            label="Password"
            autofocus={Boolean(draft.values['email'])}
          />
          <Button>Log in</Button>
        </PostForm>
        {deps.config.oauth && (
          <ButtonLink variant="outline" href="/auth/oauth">
            Log in with {providerNames[deps.config.oauth.provider]}
          </ButtonLink>
        )}
        {sendsAccountMail(deps.db) && (
          <p class="muted">
            <a href="/auth/forgotten">Forgot your password?</a>
          </p>
        )}
        {whyClosed(deps, null) === null && (
          <p class="muted">
            No account? <a href="/auth/register">Register</a>
          </p>
        )}
      </>
    ),
  })

export function registerView(deps: ViewDeps, draft: Draft): View {
  const invite = draft.values['invite'] ?? null
  const closed = whyClosed(deps, invite)
  if (closed) return { title: 'Register', page: () => <RegistrationClosed reason={closed} /> }
  // the installation's first account, which is an admin's
  const isFirst = !hasUsers(deps.db)
  const title = isFirst ? 'Set up Davit' : 'Register'
  const page = () => (
    <>
      <h1>{title}</h1>
      {isFirst && (
        <p>
          Davit is running. Create the first account: it is the admin, who sees every container on
          this server and decides who else gets access.
        </p>
      )}
      <PostForm action="/auth/register" class="form" draft={draft}>
        <FormError />
        {invite && <input type="hidden" name="invite" value={invite} />}
        {wantsSetupCode(deps) && (
          <TextField
            name="setup_code"
            label="Setup code"
            hint="Davit printed it when it started: see the terminal or the service’s log."
            autocomplete="off"
            required
            code
            autofocus
          />
        )}
        <EmailField autofocus={!wantsSetupCode(deps)} />
        <TextField name="name" label="Name" autocomplete="name" />
        <NewPassword label="Password" />
        <Button>{isFirst ? 'Create admin account' : 'Register'}</Button>
      </PostForm>
      {!isFirst && <ToLogin />}
    </>
  )
  return { title, page }
}

const RegistrationClosed = ({ reason }: { reason: string }) => (
  <>
    <h1>You can’t register</h1>
    <p role="alert">{reason}</p>
    <ToLogin />
  </>
)

const ToLogin = () => (
  <p class="muted">
    Have an account? <a href="/login">Log in</a>
  </p>
)
