import type { Child } from 'hono/jsx'
import type { Draft } from './input.ts'

type Field = {
  name: string
  label: string
  draft?: Draft | undefined
  hint?: Child
  /** Of the control; tells apart fields of the same name on one page. */
  id?: string
}

type Value = string | number | null | undefined

type TextFieldProps = Field & {
  value?: Value
  type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'search'
  required?: boolean
  placeholder?: string
  autocomplete?: string
  inputmode?: 'numeric' | 'decimal' | 'url' | 'email'
  autofocus?: boolean
  minlength?: number
  maxlength?: number
  min?: number
  max?: number
  step?: string
  pattern?: string
  readonly?: boolean
  /** For names, keys and addresses: no spelling help, fixed width. */
  code?: boolean
}

export const TextField = ({
  name,
  label,
  draft,
  hint,
  id = fieldId(name),
  value,
  type = 'text',
  code = false,
  ...rest
}: TextFieldProps) => (
  <FieldFrame {...{ name, label, draft, hint, id }} optional={!rest.required && !rest.readonly}>
    <input
      {...controlProps({ id, name, draft, hint })}
      {...(code && codeProps)}
      {...rest}
      type={type}
      value={typed(draft, name, value)}
    />
  </FieldFrame>
)

type TextAreaProps = Field & {
  value?: Value
  required?: boolean
  placeholder?: string
  rows?: number
  maxlength?: number
  code?: boolean
}

export const TextArea = ({
  name,
  label,
  draft,
  hint,
  id = fieldId(name),
  value,
  code = false,
  rows = 3,
  ...rest
}: TextAreaProps) => (
  <FieldFrame {...{ name, label, draft, hint, id }} optional={!rest.required}>
    <textarea
      {...controlProps({ id, name, draft, hint })}
      {...(code && codeProps)}
      {...rest}
      rows={rows}
    >
      {/* a first line break is dropped by the parser, so one is given away */}
      {`\n${typed(draft, name, value)}`}
    </textarea>
  </FieldFrame>
)

type SelectFieldProps = Field & {
  value?: Value
  options: { value: string; label: string }[]
  required?: boolean
}

export const SelectField = ({
  name,
  label,
  draft,
  hint,
  id = fieldId(name),
  value,
  options,
  ...rest
}: SelectFieldProps) => (
  <FieldFrame {...{ name, label, draft, hint, id }}>
    <select {...controlProps({ id, name, draft, hint })} {...rest}>
      {options.map((option) => (
        <option value={option.value} selected={option.value === typed(draft, name, value)}>
          {option.label}
        </option>
      ))}
    </select>
  </FieldFrame>
)

/** The hidden field before it says "off" for a box that is not ticked; `lone` leaves it out. */
export const Checkbox = ({
  name,
  label,
  draft,
  hint,
  id = fieldId(name),
  value = false,
  lone = false,
}: Field & { value?: boolean; lone?: boolean }) => (
  <div class="field check" data-invalid={isInvalid(draft, name) || undefined}>
    {!lone && <input type="hidden" name={name} value="0" />}
    <input
      {...controlProps({ id, name, draft, hint })}
      type="checkbox"
      value="1"
      checked={typed(draft, name, value ? '1' : '0') === '1'}
    />
    <label for={id}>{label}</label>
    <FieldNotes {...{ id, name, label, draft, hint }} />
  </div>
)

/** What is wrong with the form as a whole. */
export const FormError = ({ draft }: { draft?: Draft | undefined }) =>
  draft?.message ? (
    <div class="alert" data-variant="destructive" role="alert">
      <strong>{draft.message}</strong>
    </div>
  ) : null

const FieldFrame = ({
  children,
  optional = false,
  ...field
}: Field & { id: string; children: Child; optional?: boolean }) => (
  <div class="field" data-invalid={isInvalid(field.draft, field.name) || undefined}>
    <label for={field.id}>
      {field.label}
      {optional && <span class="optional">optional</span>}
    </label>
    {children}
    <FieldNotes {...field} />
  </div>
)

const FieldNotes = ({ id, name, label, draft, hint }: Field & { id: string }) => (
  <>
    {isInvalid(draft, name) && (
      <p id={`${id}-error`} class="field-error">
        {sentence(label, draft!.errors[name]!)}
      </p>
    )}
    {hint && (
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    )}
  </>
)

/** No help from the keyboard with what is not prose. */
const codeProps = { class: 'code', autocapitalize: 'off', spellcheck: false } as const

const controlProps = ({
  id,
  name,
  draft,
  hint,
}: Pick<Field, 'name' | 'draft' | 'hint'> & { id: string }) => {
  const notes = [isInvalid(draft, name) && `${id}-error`, hint && `${id}-hint`].filter(Boolean)
  return {
    id,
    name,
    'aria-invalid': isInvalid(draft, name) ? ('true' as const) : undefined,
    'aria-describedby': notes.join(' ') || undefined,
  }
}

const fieldId = (name: string) => `field-${name}`

const isInvalid = (draft: Draft | undefined, name: string) =>
  draft !== undefined && Object.hasOwn(draft.errors, name)

/** A template may call its variables what it likes, `constructor` too. */
const typed = (draft: Draft | undefined, name: string, value: Value) =>
  draft && Object.hasOwn(draft.values, name) ? draft.values[name]! : String(value ?? '')

/** Complaints such as "is longer than 60 characters." start with the field's name. */
const sentence = (label: string, message: string) =>
  /^[a-z]/.test(message) ? `${label} ${message}` : message
