import { Modal, ModalDone, ModalForm } from '../web/dialog.tsx'
import { SelectField, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'
import { CurrentPassword } from './login-fields.tsx'
import { MadeToken } from './tokens-page.tsx'

export const NewTokenModal = ({ draft, hasPassword }: { draft: Draft; hasPassword: boolean }) => (
  <ModalForm title="New API token" action="/settings/tokens" submit="Create token" draft={draft}>
    <TextField
      name="name"
      label="Name"
      placeholder="release pipeline"
      hint="What it is for, so that you know later what stops working without it."
      maxlength={60}
      autocomplete="off"
      required
      autofocus
    />
    <SelectField
      name="scopes"
      label="Scope"
      value="deploy"
      options={[
        { value: 'read', label: 'read: look at everything' },
        { value: 'deploy', label: 'deploy: also deploy, roll back' },
        { value: 'write', label: 'write: also create, change, delete' },
      ]}
      hint="No token may touch your password, sessions, tokens, or other users."
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
  >
    <div class="form">
      <MadeToken token={token} />
      <ModalDone />
    </div>
  </Modal>
)
