import { FormError, TextField } from '../web/fields-view.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import { providerNames } from './oauth-provider.ts'
import type { ProviderName } from './oauth-provider.ts'
import { CurrentPassword, EmailField, NewPassword } from './login-fields.tsx'

export const LoginPage = ({
  draft,
  provider,
  isBehindForm,
  mayRegister,
  mayReset,
}: {
  draft: Draft
  /** An additional way to log in. */
  provider: ProviderName | null
  isBehindForm: boolean
  mayRegister: boolean
  /** True when mails are sent. */
  mayReset: boolean
}) => (
  <>
    <h1>Log in</h1>
    {isBehindForm && (
      <p class="note" role="status">
        Your session had ended, so the form you sent wasn’t saved. Log in to go back to it.
      </p>
    )}
    <PostForm action="/auth/login" class="form" draft={draft}>
      <FormError />
      <EmailField autofocus />
      <CurrentPassword name="password" label="Password" />
      <Button>Log in</Button>
    </PostForm>
    {provider && (
      <ButtonLink variant="outline" href="/auth/oauth">
        Log in with {providerNames[provider]}
      </ButtonLink>
    )}
    {mayReset && (
      <p class="muted">
        <a href="/auth/forgotten">Forgot your password?</a>
      </p>
    )}
    {mayRegister && (
      <p class="muted">
        No account? <a href="/auth/register">Register</a>
      </p>
    )}
  </>
)

type RegisterPageProps = {
  draft: Draft
  /** True for the installation's first account, which is an admin's. */
  isFirst: boolean
  wantsSetupCode: boolean
  invite: string | null
}

export const RegisterPage = ({ draft, isFirst, wantsSetupCode, invite }: RegisterPageProps) => (
  <>
    <h1>{isFirst ? 'Set up Davit' : 'Register'}</h1>
    {isFirst && (
      <p>
        Davit is running. Create the first account: it is the admin, who sees every container on
        this server and decides who else gets access.
      </p>
    )}
    <PostForm action="/auth/register" class="form" draft={draft}>
      <FormError />
      {invite && <input type="hidden" name="invite" value={invite} />}
      {wantsSetupCode && (
        <TextField
          name="setup_code"
          label="Setup code"
          hint="Davit printed it when it started: see the terminal or the service’s log."
          autocomplete="off"
          required
          code
        />
      )}
      <EmailField />
      <TextField name="name" label="Name" autocomplete="name" />
      <NewPassword label="Password" />
      <Button>{isFirst ? 'Create admin account' : 'Register'}</Button>
    </PostForm>
    {!isFirst && <ToLogin />}
  </>
)

export const RegistrationClosedPage = ({ reason }: { reason: string }) => (
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
