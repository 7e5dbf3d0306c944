import { Modal, ModalDone } from '../web/dialog.tsx'
import type { TokenOwner } from './providers/provider.ts'
import { providers } from './providers/registry.ts'
import type { Source } from './store.ts'

const sources = { href: '/settings/git', name: 'Git sources' }

/** The owner and scopes are as just reported by the provider. */
export const SourceModal = ({ source, owner }: { source: Source; owner: TokenOwner }) => (
  <Modal title={<bdi>{source.name}</bdi>} from={sources}>
    <div class="form">
      {owner.missing.length > 0 ? (
        <div class="alert" data-variant="destructive" role="alert">
          <strong>The token lacks: {owner.missing.join(', ')}.</strong>
        </div>
      ) : (
        <p role="status">
          {providers[source.provider].title} accepts the token. It belongs to{' '}
          <strong>
            <bdi>{owner.login ?? source.login}</bdi>
          </strong>
          .
        </p>
      )}
      <p class="muted">
        {owner.rights ? (
          <>
            Its scopes:{' '}
            {owner.rights.map((right) => (
              <span class="tag">{right}</span>
            ))}
          </>
        ) : (
          'It can list and clone. Whether it can change webhooks is only known when it is used.'
        )}
      </p>
      <ModalDone />
    </div>
  </Modal>
)
