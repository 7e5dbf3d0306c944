import { SelectField, TextField } from '../web/fields-view.tsx'
import type { Draft } from '../web/draft.ts'
import type { Values } from './compose/values.ts'
import type { Variable } from './compose/variables.ts'

type Props = {
  variables: Variable[]
  draft: Draft
  /** What an instance has; of those that are secret only that they are there is used. */
  kept?: Values
}

/** The fields of a template's variables: first what only the user knows, then what is made for them. */
export const VariableFields = ({ variables, draft, kept }: Props) => {
  const asked = variables.filter(({ generate }) => !generate)
  const made = variables.filter(({ generate }) => generate)
  const isWrong = made.some(({ name }) => name in draft.errors)
  return (
    <>
      {asked.map((variable) => (
        <VariableField variable={variable} kept={kept} />
      ))}
      {made.length > 0 && (
        <details open={isWrong || undefined}>
          <summary>
            {kept ? 'Made for you' : `Made for you: ${made.map(({ label }) => label).join(', ')}`}
          </summary>
          <div class="form">
            {made.map((variable) => (
              <VariableField variable={variable} kept={kept} />
            ))}
          </div>
        </details>
      )}
    </>
  )
}

const VariableField = ({ variable, kept }: { variable: Variable; kept: Values | undefined }) => {
  const { name, label, options, secret, generate, required } = variable
  const before = kept?.get(name)
  const value = secret ? null : (before ?? (kept ? null : variable.default))
  const shared = { name, label, value }
  if (options.length > 0)
    return (
      <SelectField
        {...shared}
        secret={secret}
        hint={variable.description ?? undefined}
        options={[
          ...(required || variable.default !== null ? [] : [{ value: '', label: '—' }]),
          ...options.map((option) => ({ value: option, label: option })),
        ]}
      />
    )
  const isKept = before !== undefined && (secret || generate !== null)
  return (
    <TextField
      {...shared}
      hint={hintOf(variable, isKept)}
      type={secret ? 'password' : 'text'}
      placeholder={isKept ? 'as it is' : generate ? 'made for you' : ''}
      required={required && !generate && !isKept && variable.default === null}
      autocomplete={secret ? 'new-password' : 'off'}
      maxlength={32_768}
      code
    />
  )
}

function hintOf({ description, generate, secret }: Variable, isKept: boolean) {
  const empty = isKept
    ? 'Left empty, it stays as it is.'
    : generate
      ? `Left empty, Davit makes one${secret ? ' and keeps it sealed' : ''}.`
      : null
  return [description, empty].filter(Boolean).join(' ') || undefined
}
