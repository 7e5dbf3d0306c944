import type { environments } from '../db/schema.ts'
import { Modal, ModalActions } from '../web/dialog.tsx'
import { Checkbox, FormError, TextArea, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import type { Draft } from '../web/input.ts'
import type { ShownVariable } from './variables-page.tsx'

type Environment = Pick<typeof environments.$inferSelect, 'id' | 'name'>

/** For a new variable, or to change one. A secret's field stays empty, and so left it keeps the value. */
export const VariableModal = ({
  environment,
  variable,
  draft,
}: {
  environment: Environment
  variable: ShownVariable | null
  draft: Draft
}) => (
  <Modal title={variable ? `Edit ${variable.key}` : 'New variable'}>
    <form
      class="form"
      {...(variable
        ? { 'hx-put': `/envs/${environment.id}/variables/${variable.id}` }
        : { 'hx-post': `/envs/${environment.id}/variables` })}
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <FormError draft={draft} />
      <TextField
        name="key"
        label="Name"
        draft={draft}
        value={variable?.key}
        placeholder="DATABASE_URL"
        pattern="[A-Za-z_][A-Za-z0-9_]*"
        maxlength={200}
        autocomplete="off"
        required
        autofocus
        code
      />
      <TextArea
        name="value"
        label="Value"
        draft={draft}
        value={variable?.value}
        {...(variable?.secret && {
          placeholder: '••••••••',
          hint: 'It is secret and not shown. Leave this empty to keep it.',
        })}
        code
      />
      <Checkbox
        name="secret"
        label="Secret"
        draft={draft}
        value={variable?.secret ?? false}
        hint="Kept sealed, never shown again, and masked in logs."
      />
      <Checkbox
        name="build_time"
        label="Also while building"
        draft={draft}
        value={variable?.buildTime ?? false}
        hint="Given to the Dockerfile as a build argument."
      />
      <ModalActions>
        <button type="submit" class="btn">
          {variable ? 'Save' : 'Add'}
        </button>
      </ModalActions>
    </form>
  </Modal>
)

/** Takes a pasted .env file: all of its lines or none. */
export const DotenvForm = ({ environment, draft }: { environment: Environment; draft: Draft }) => (
  <details class="disclosure" open={'dotenv' in draft.errors}>
    <summary>Paste a .env file</summary>
    <PostForm action={`/envs/${environment.id}/variables`} class="form">
      <FormError draft={draft} />
      <TextArea
        name="dotenv"
        label="Lines"
        draft={draft}
        placeholder={'# comments are left out\nDATABASE_URL=postgres://…\nGREETING="Hello, sailor"'}
        hint="One NAME=value a line. Names that are there already get the new value."
        rows={6}
        required
        code
      />
      <Checkbox name="secret" id="dotenv-secret" label="Keep new ones secret" draft={draft} />
      <div class="form-actions start">
        <button type="submit" class="btn">
          Set them
        </button>
      </div>
    </PostForm>
  </details>
)
