import { meaningOf } from '../services/compose/dangers.ts'
import { EmptyState } from '../web/components.tsx'
import type { User } from '../web/factory.ts'
import { Button, PostForm } from '../web/form.tsx'
import { SettingsList } from '../web/settings-frame.tsx'

export const grantsPath = '/settings/grants'

type Person = Pick<User, 'id' | 'email'>

export type Grant = {
  service: { id: string; name: string; allowed: string[]; compose: string }
  owner: Person
  /** The admin who allowed it; null once it has lapsed. */
  by: Person | null
}

export const GrantList = ({ items }: { items: Grant[] }) => (
  <SettingsList
    id="grants"
    aria-label="Grants"
    about="Services that an admin gave access to this server. After a revocation they can’t be started or changed; their containers keep running until they are stopped."
    rows={items.map((grant) => (
      <Row grant={grant} />
    ))}
    empty={<EmptyState title="No service has access to this server" />}
  />
)

const Row = ({ grant: { service, owner, by } }: { grant: Grant }) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{service.name}</bdi>
      </strong>{' '}
      {by === null && <span class="tag">lapsed</span>}
      <p class="row-facts">
        <bdi>{owner.email}</bdi>
        {by && (
          <span>
            allowed by <bdi>{by.email}</bdi>
          </span>
        )}
      </p>
      <ul class="names">
        {service.allowed.map((key) => (
          <li>
            <bdi>{meaningOf(key)}</bdi>
          </li>
        ))}
      </ul>
      <details>
        <summary>Compose file</summary>
        <pre class="compose-file">{service.compose}</pre>
      </details>
    </div>
    <div class="row-actions">
      <PostForm
        action={`${grantsPath}/${service.id}`}
        method="PUT"
        replaces="#grants"
        question={
          by
            ? {
                text: `Revoke the access of ${service.name} to this server?`,
                answer: 'Revoke grant',
              }
            : undefined
        }
      >
        <input type="hidden" name="granted" value={by ? '0' : '1'} />
        <Button
          variant="outline"
          small
          aria-label={`${by ? 'Revoke' : 'Allow again'}: ${service.name}`}
        >
          {by ? 'Revoke' : 'Allow again'}
        </Button>
      </PostForm>
    </div>
  </li>
)
