import { FormError } from '../web/fields-view.tsx'
import { SettingsSection } from '../web/settings-frame.tsx'
import { Button, PostForm } from '../web/form.tsx'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { DeleteButton } from '../web/row-actions.tsx'
import { Ago } from '../web/times.tsx'
import { CurrentPassword } from './login-fields.tsx'
import type { Identity } from './identity-store.ts'
import { providerNames } from './oauth-provider.ts'
import type { ProviderName } from './oauth-provider.ts'

type FormProps = { provider: ProviderName; hasPassword: boolean; draft?: Draft | undefined }

export const LinkedLogins = ({
  linked,
  provider,
  ...form
}: Omit<FormProps, 'provider'> & {
  linked: Identity[]
  provider: ProviderName | null
}) => (
  <SettingsSection
    id="linked"
    title="Linked logins"
    about="Accounts at git providers that you can log in with."
  >
    <div class="form">
      {linked.length > 0 && (
        <ul class="rows">
          {linked.map((identity) => (
            <LinkedLogin identity={identity} />
          ))}
        </ul>
      )}
      {provider && <LinkForm provider={provider} {...form} />}
    </div>
  </SettingsSection>
)

/** Redirects to the provider and back. Only an error is swapped in. */
export const LinkForm = ({ provider, hasPassword, draft = emptyDraft }: FormProps) => (
  <PostForm class="form" action="/settings/identities" draft={draft} replaces="this">
    <FormError />
    {hasPassword && <CurrentPassword id="link-password" />}
    <div class="form-actions start">
      <Button variant="outline">Link {providerNames[provider]}</Button>
    </div>
  </PostForm>
)

const LinkedLogin = ({ identity }: { identity: Identity }) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{identity.login}</bdi>
      </strong>
      <p class="muted">
        {providerNames[identity.provider]} at {identity.baseUrl}, linked{' '}
        <Ago at={identity.createdAt} />
      </p>
    </div>
    <DeleteButton
      path={`/settings/identities/${identity.id}`}
      label={`Unlink ${identity.login}`}
      question={{ text: `Unlink ${identity.login}?`, answer: 'Unlink login' }}
    >
      Unlink
    </DeleteButton>
  </li>
)
