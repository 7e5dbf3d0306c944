import type { Child } from 'hono/jsx'
import type { environments } from '../db/schema.ts'
import { Modal, ModalActions } from '../web/dialog.tsx'
import { Checkbox, FormError, TextArea, TextField } from '../web/fields-view.tsx'
import { PostForm } from '../web/form.tsx'
import { emptyDraft } from '../web/input.ts'
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
}) =>
  'dotenv' in draft.values ? (
    <Modal title="A .env file" wide>
      <DotenvForm environment={environment} draft={draft}>
        <ModalActions>
          <SetButton />
        </ModalActions>
      </DotenvForm>
    </Modal>
  ) : (
    <Modal title={variable ? `Edit ${variable.key}` : 'New variable'}>
      <PostForm
        class="form"
        {...(variable
          ? { action: `/envs/${environment.id}/variables/${variable.id}`, method: 'PUT' }
          : { action: `/envs/${environment.id}/variables` })}
        live
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
      </PostForm>
    </Modal>
  )

/** Takes a pasted .env file, all of its lines or none; refused, it comes back in a dialog. */
export const PasteDotenv = ({ environment }: { environment: Environment }) => (
  <details class="disclosure">
    <summary>Paste a .env file</summary>
    <DotenvForm environment={environment} draft={emptyDraft}>
      <div class="form-actions start">
        <SetButton />
      </div>
    </DotenvForm>
  </details>
)

const DotenvForm = ({
  environment,
  draft,
  children,
}: {
  environment: Environment
  draft: Draft
  children: Child
}) => (
  <PostForm
    class="form"
    action={`/envs/${environment.id}/variables`}
    live
    hx-target="#modal"
    hx-disable="find button[type=submit]"
  >
    <FormError draft={draft} />
    <TextArea
      name="dotenv"
      id={draft === emptyDraft ? 'dotenv' : 'dotenv-again'}
      label="Lines"
      draft={draft}
      placeholder={'# comments are left out\nDATABASE_URL=postgres://…\nGREETING="Hello, sailor"'}
      hint="One NAME=value a line. Names that are there already get the new value."
      rows={6}
      required
      code
    />
    <Checkbox
      name="secret"
      id={draft === emptyDraft ? 'dotenv-secret' : 'dotenv-secret-again'}
      label="Keep new ones secret"
      draft={draft}
    />
    {children}
  </PostForm>
)

const SetButton = () => (
  <button type="submit" class="btn">
    Set them
  </button>
)
