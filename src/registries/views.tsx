import { EmptyState } from '../web/components.tsx'
import { ModalForm } from '../web/dialog.tsx'
import type { Draft } from '../web/draft.ts'
import { TextField } from '../web/fields-view.tsx'
import { ButtonLink } from '../web/form.tsx'
import { DeleteButton } from '../web/row-actions.tsx'
import { SettingsList } from '../web/settings-frame.tsx'
import { Ago } from '../web/times.tsx'
import type { Registry } from './store.ts'

type Registries = { items: Registry[]; nextCursor: string | null }

export const RegistryList = ({ items, nextCursor }: Registries) => (
  <SettingsList
    id="registries"
    aria-label="Registries"
    about="Logins for private images, used by services and builds."
    action={items.length > 0 && <NewRegistry />}
    rows={items.map((registry) => (
      <RegistryItem {...registry} />
    ))}
    empty={
      <EmptyState title="No registries">
        <p>Public images need none. Add a registry to use its private images.</p>
        <NewRegistry />
      </EmptyState>
    }
    more={{ href: '/settings/registries', nextCursor }}
  />
)

const NewRegistry = () => (
  <ButtonLink icon="plus" opens="/settings/registries/new">
    New registry
  </ButtonLink>
)

const RegistryItem = ({ id, host, username, createdAt }: Registry) => (
  <li>
    <div class="row-main">
      <strong>
        <bdi>{host}</bdi>
      </strong>
      <p class="row-facts">
        <span>
          as <bdi>{username}</bdi>
        </span>
        <span>
          added <Ago at={createdAt} />
        </span>
      </p>
    </div>
    <div class="row-actions">
      <DeleteButton
        path={`/settings/registries/${id}`}
        label={`Remove ${host}`}
        question={{
          text: `Remove the registry ${host}? Running apps keep running, but its images can no longer be pulled.`,
          answer: 'Remove registry',
        }}
      >
        Remove
      </DeleteButton>
    </div>
  </li>
)

export const NewRegistryModal = ({ draft }: { draft: Draft }) => (
  <ModalForm
    title="New registry"
    from={{ href: '/settings/registries', name: 'Registries' }}
    action="/settings/registries"
    submit="Check and add"
    draft={draft}
  >
    <TextField
      name="host"
      label="Host"
      placeholder="registry.example.com"
      hint="As in the names of its images. Docker Hub is docker.io."
      autocomplete="off"
      required
      autofocus
      code
    />
    <TextField name="username" label="User" autocomplete="off" required />
    <TextField
      name="password"
      label="Password or token"
      type="password"
      hint="Read access (pull) is enough."
      autocomplete="off"
      required
      code
    />
  </ModalForm>
)
