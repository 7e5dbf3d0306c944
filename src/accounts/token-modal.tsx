import { Modal, ModalActions } from '../web/dialog.tsx'
import { FormError, SelectField, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'
import { CurrentPassword } from './current-password.tsx'
import { MadeToken } from './tokens-page.tsx'

export const NewTokenModal = ({ draft, hasPassword }: { draft: Draft; hasPassword: boolean }) => (
  <Modal title="New API token">
    <PostForm
      class="form"
      action="/settings/tokens"
      live
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <FormError draft={draft} />
      <TextField
        name="name"
        label="Name"
        draft={draft}
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
        draft={draft}
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
        draft={draft}
        value="90"
        options={[
          { value: '30', label: 'in 30 days' },
          { value: '90', label: 'in 90 days' },
          { value: '365', label: 'in a year' },
          { value: '', label: 'never' },
        ]}
      />
      {hasPassword && <CurrentPassword draft={draft} id="token-password" />}
      <ModalActions>
        <button type="submit" class="btn">
          Create token
        </button>
      </ModalActions>
    </PostForm>
  </Modal>
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
      <div class="form-actions">
        <button type="button" class="btn" data-close>
          Done
        </button>
      </div>
    </div>
  </Modal>
)
