import { ModalForm } from '../web/dialog.tsx'
import { Checkbox, TextArea, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'
import { secretNames } from '../logs/secret-names.ts'
import type { Variable } from './variable-store.ts'
import type { Environment } from './store.ts'

type VariableModalProps = { environment: Environment; variable: Variable | null; draft: Draft }

/** Adds a variable or changes one. A secret's field is empty, and if left empty the value stays. */
export const VariableModal = ({ environment, variable, draft }: VariableModalProps) => (
  <ModalForm
    title={variable ? `Edit ${variable.key}` : 'New variable'}
    from={variablesPage(environment)}
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
      autocomplete="off"
      required
      autofocus
      code
    />
    <TextArea
      name="value"
      label="Value"
      value={variable?.value}
      secret="secret"
      {...(variable?.secret && {
        placeholder: '••••••••',
        hint: 'The value is secret and isn’t shown. Leave empty to keep it.',
      })}
      code
    />
    <Checkbox
      name="secret"
      label="Secret"
      value={variable?.secret ?? false}
      {...(!variable && { follows: { name: 'key', pattern: secretNames } })}
      hint="Stored encrypted, never shown again, and masked in logs."
    />
    <Checkbox
      name="build_time"
      label="Also use in builds"
      value={variable?.buildTime ?? false}
      hint="Passed to the Dockerfile as a build argument."
    />
  </ModalForm>
)

const variablesPage = (of: Environment) => ({ href: pathOf(of), name: 'Variables' })

const pathOf = ({ id }: Environment) => `/envs/${id}/variables`
