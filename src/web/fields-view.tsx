import { useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { DraftContext } from './draft.ts'

type Field = {
  name: string
  label: string
  hint?: Child
  /** Of the control; tells apart fields of the same name on one page. */
  id?: string
}

type Value = string | number | null | undefined

type ControlProps<Own extends string> = Field &
  Pick<JSX.IntrinsicElements['input'], Own | 'required'> & {
    value?: Value
    /** For names, keys and addresses: no spelling help, fixed width. */
    code?: boolean
  }

type TextFieldProps = ControlProps<
  | ('type' | 'placeholder' | 'autocomplete' | 'inputmode' | 'autofocus' | 'pattern' | 'readonly')
  | ('minlength' | 'maxlength' | 'min' | 'max' | 'step')
>

/** What was typed as a password is not shown again. */
export const TextField = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value,
  type = 'text',
  code = false,
  ...rest
}: TextFieldProps) => (
  <FieldFrame {...{ name, label, hint, id }} optional={!rest.required && !rest.readonly}>
    <input
      {...controlProps({ id, name, hint })}
      {...(code && codeProps)}
      {...rest}
      type={type}
      value={type === 'password' ? '' : typed(name, value)}
    />
  </FieldFrame>
)

export const TextArea = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value,
  code = false,
  rows = 3,
  ...rest
}: ControlProps<'placeholder' | 'maxlength'> & { rows?: number }) => (
  <FieldFrame {...{ name, label, hint, id }} optional={!rest.required}>
    <textarea {...controlProps({ id, name, hint })} {...(code && codeProps)} {...rest} rows={rows}>
      {/* a first line break is dropped by the parser, so one is given away */}
      {`\n${typed(name, value)}`}
    </textarea>
  </FieldFrame>
)

type SelectFieldProps = ControlProps<never> & {
  options: { value: string; label: string }[]
  /** What was chosen is not shown again. */
  secret?: boolean
}

export const SelectField = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value,
  options,
  secret = false,
  ...rest
}: SelectFieldProps) => {
  const chosen = secret ? '' : typed(name, value)
  return (
    <FieldFrame {...{ name, label, hint, id }}>
      <select {...controlProps({ id, name, hint })} {...rest}>
        {options.map((option) => (
          <option value={option.value} selected={option.value === chosen}>
            {option.label}
          </option>
        ))}
      </select>
    </FieldFrame>
  )
}

/** The hidden field before it says "off" for a box that is not ticked; `lone` leaves it out. */
export const Checkbox = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value = false,
  lone = false,
}: Field & { value?: boolean; lone?: boolean }) => (
  <div class="field check" data-invalid={complaintAbout(name) !== undefined || undefined}>
    {!lone && <input type="hidden" name={name} value="0" />}
    <input
      {...controlProps({ id, name, hint })}
      type="checkbox"
      value="1"
      checked={typed(name, value ? '1' : '0') === '1'}
    />
    <label for={id}>{label}</label>
    <FieldNotes {...{ id, name, label, hint }} />
  </div>
)

/** What is wrong with the form as a whole. */
export const FormError = () => {
  const { message } = useContext(DraftContext)
  return (
    message && (
      <div class="alert" data-variant="destructive" role="alert">
        <strong>{message}</strong>
      </div>
    )
  )
}

const FieldFrame = ({
  children,
  optional = false,
  ...field
}: Field & { id: string; children: Child; optional?: boolean }) => (
  <div class="field" data-invalid={complaintAbout(field.name) !== undefined || undefined}>
    <label for={field.id}>
      {field.label}
      {optional && <span class="optional">optional</span>}
    </label>
    {children}
    <FieldNotes {...field} />
  </div>
)

const FieldNotes = ({ id, name, label, hint }: Field & { id: string }) => {
  const complaint = complaintAbout(name)
  return (
    <>
      {complaint && (
        <p id={`${id}-error`} class="field-error">
          {sentence(label, complaint)}
        </p>
      )}
      {hint && (
        <p id={`${id}-hint`} class="hint">
          {hint}
        </p>
      )}
    </>
  )
}

/** No help from the keyboard with what is not prose. */
const codeProps = { class: 'code', autocapitalize: 'off', spellcheck: false } as const

const controlProps = ({ id, name, hint }: Pick<Field, 'name' | 'hint'> & { id: string }) => {
  const isInvalid = complaintAbout(name) !== undefined
  const notes = [isInvalid && `${id}-error`, hint && `${id}-hint`].filter(Boolean)
  return {
    id,
    name,
    'aria-invalid': isInvalid ? ('true' as const) : undefined,
    'aria-describedby': notes.join(' ') || undefined,
  }
}

const fieldId = (name: string) => `field-${name}`

/** What is wrong with a field of the form that is being drawn. */
const complaintAbout = (name: string) => own(useContext(DraftContext).errors, name)

/** What was typed into it, or its value. */
const typed = (name: string, value: Value) =>
  own(useContext(DraftContext).values, name) ?? String(value ?? '')

/** A template may call its variables what it likes, `constructor` too. */
const own = (texts: Record<string, string>, name: string) =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

/** Complaints such as "is longer than 60 characters." start with the field's name. */
const sentence = (label: string, message: string) =>
  /^[a-z]/.test(message) ? `${label} ${message}` : message
