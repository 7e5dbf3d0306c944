import { ModalForm } from '../web/dialog.tsx'
import { Checkbox, TextArea, TextField } from '../web/fields-view.tsx'
import { Button, PostForm } from '../web/form.tsx'
import type { Draft } from '../web/draft.ts'
import type { Variable } from './variable-store.ts'
import type { Environment } from './store.ts'

type VariableModalProps = { environment: Environment; variable: Variable | null; draft: Draft }

/** For a new variable, or to change one. A secret's field stays empty, and so left it keeps the value. */
export const VariableModal = ({ environment, variable, draft }: VariableModalProps) =>
  'dotenv' in draft.values ? (
    <ModalForm
      title="A .env file"
      {...{ action: pathOf(environment), draft }}
      submit="Save variables"
      wide
    >
      <DotenvFields again />
    </ModalForm>
  ) : (
    <ModalForm
      title={variable ? `Edit ${variable.key}` : 'New variable'}
      {...(variable
        ? { action: `${pathOf(environment)}/${variable.id}`, method: 'PUT' }
        : { action: pathOf(environment) })}
      submit={variable ? 'Save' : 'Add'}
      draft={draft}
    >
      <TextField
        name="key"
        label="Name"
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
        value={variable?.secret ?? false}
        hint="Kept sealed, never shown again, and masked in logs."
      />
      <Checkbox
        name="build_time"
        label="Also while building"
        value={variable?.buildTime ?? false}
        hint="Given to the Dockerfile as a build argument."
      />
    </ModalForm>
  )

/** Takes a pasted .env file, all of its lines or none; refused, it comes back in a dialog. */
export const PasteDotenv = ({ environment }: { environment: Environment }) => (
  <details class="disclosure">
    <summary>Paste a .env file</summary>
    <PostForm
      class="form"
      action={pathOf(environment)}
      live
      hx-target="#modal"
      hx-disable="find button[type=submit]"
    >
      <DotenvFields />
      <div class="form-actions start">
        <Button>Save variables</Button>
      </div>
    </PostForm>
  </details>
)

const DotenvFields = ({ again = false }: { again?: boolean }) => (
  <>
    <TextArea
      name="dotenv"
      id={again ? 'dotenv-again' : 'dotenv'}
      label="Lines"
      placeholder={'# comments are left out\nDATABASE_URL=postgres://…\nGREETING="Hello, sailor"'}
      hint="One NAME=value per line. Names that are there already get the new value."
      rows={6}
      required
      code
    />
    <Checkbox
      name="secret"
      id={again ? 'dotenv-secret-again' : 'dotenv-secret'}
      label="Keep new ones secret"
    />
  </>
)

const pathOf = ({ id }: Environment) => `/envs/${id}/variables`
