import { Ago } from '../web/times.tsx'
import type { Identity } from './identity-store.ts'
import { providerNames } from './oauth-provider.ts'
import type { ProviderName } from './oauth-provider.ts'

/** The accounts elsewhere that a user can log in with, and the way to link one. */
export const LinkedLogins = ({
  linked,
  provider,
}: {
  linked: Identity[]
  provider: ProviderName | null
}) => (
  <section class="settings-section" aria-labelledby="linked-heading">
    <div>
      <h2 id="linked-heading">Linked logins</h2>
      <p class="muted">Accounts elsewhere that log you in here.</p>
    </div>
    <div class="form">
      {linked.length > 0 && (
        <ul class="list">
          {linked.map((identity) => (
            <LinkedLogin identity={identity} />
          ))}
        </ul>
      )}
      {provider && (
        <p>
          <a class="btn" data-variant="outline" href="/auth/oauth?link=1">
            Link {providerNames[provider]}
          </a>
        </p>
      )}
    </div>
  </section>
)

const LinkedLogin = ({ identity }: { identity: Identity }) => (
  <li class="list-row">
    <div>
      <strong>
        <bdi>{identity.login}</bdi>
      </strong>
      <p class="muted">
        {providerNames[identity.provider]} at {identity.baseUrl}, linked{' '}
        <Ago at={identity.createdAt} />
      </p>
    </div>
    <button
      type="button"
      class="btn"
      data-variant="outline"
      data-size="sm"
      hx-delete={`/settings/identities/${identity.id}`}
      hx-confirm={`Unlink ${identity.login}?`}
      aria-label={`Unlink ${identity.login}`}
    >
      Unlink
    </button>
  </li>
)
