import { Modal, ModalDone, ModalForm } from '../web/dialog.tsx'
import { SelectField, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'
import { CurrentPassword } from './login-fields.tsx'
import { MadeToken } from './tokens-page.tsx'

const tokens = { href: '/settings/tokens', name: 'Tokens' }

export const NewTokenModal = ({ draft, hasPassword }: { draft: Draft; hasPassword: boolean }) => (
  <ModalForm
    title="New API token"
    from={tokens}
    action="/settings/tokens"
    submit="Create token"
    draft={draft}
  >
    <TextField
      name="name"
      label="Name"
      placeholder="release pipeline"
      hint="What it is for, so that you know what stops working if you revoke it."
      autocomplete="off"
      required
      autofocus
    />
    <SelectField
      name="scopes"
      label="Scope"
      value="deploy"
      options={[
        { value: 'read', label: 'read: view everything' },
        { value: 'deploy', label: 'deploy: also deploy, roll back, cancel, replay' },
        { value: 'write', label: 'write: also create, change, delete' },
      ]}
      hint="No token can change your password, sessions, tokens, or other users."
    />
    <SelectField
      name="expires_in_days"
      label="Expires"
      value="90"
      options={[
        { value: '30', label: 'in 30 days' },
        { value: '90', label: 'in 90 days' },
        { value: '365', label: 'in a year' },
        { value: '', label: 'never' },
      ]}
    />
    {hasPassword && <CurrentPassword id="token-password" />}
  </ModalForm>
)

export const MadeTokenModal = ({ name, token }: { name: string; token: string }) => (
  <Modal
    title={
      <>
        The token <bdi>{name}</bdi>
      </>
    }
    from={tokens}
  >
    <div class="form">
      <MadeToken token={token} />
      <ModalDone />
    </div>
  </Modal>
)
