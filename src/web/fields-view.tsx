import { useContext } from 'hono/jsx'
import type { Child } from 'hono/jsx'
import type { JSX } from 'hono/jsx/jsx-runtime'
import { DraftContext, enterAgain } from './draft.ts'
import { CopyButton } from './copy.tsx'
import { flagOf } from './fields.ts'
import { Icon } from './icons.tsx'

type Field = {
  name: string
  label: string
  hint?: Child
  /** Id of the control, for fields with the same name on one page. */
  id?: string
}

type Value = string | number | null | undefined

type ControlProps<Own extends string> = Field &
  Pick<JSX.IntrinsicElements['input'], Own | 'required'> & {
    value?: Value
    /** For names, keys and addresses: no spell check, monospace. */
    code?: boolean
  }

/*
 * None has a `maxlength`, which would silently truncate pasted text: the server refuses it and names the
 * rule. The server also checks what a `pattern` could, unless `title` names the rule.
 */
type TextFieldProps = ControlProps<
  | ('type' | 'placeholder' | 'autocomplete' | 'inputmode' | 'autofocus' | 'readonly' | 'disabled')
  | ('minlength' | 'min' | 'max' | 'step' | 'pattern' | 'title' | 'list')
> & {
  /** Fields of an address whose last part becomes the value, until someone types into this one. */
  namedBy?: string
}

/** A submitted password is not shown again, and while it is typed only on demand. */
export const TextField = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value,
  type = 'text',
  code = false,
  namedBy,
  ...rest
}: TextFieldProps) => {
  const isPassword = type === 'password'
  const isFramed = isPassword || rest.readonly
  const input = (
    <input
      {...controlProps({ id, name, hint })}
      {...(code && !rest.readonly && codeProps)}
      {...rest}
      {...(isFramed && { class: code ? 'input code' : 'input' })}
      data-named-by={namedBy}
      type={type}
      value={isPassword ? undefined : rest.readonly ? (value ?? '') : typed(name, value)}
    />
  )
  return (
    <FieldFrame
      {...{ name, label, hint, id }}
      optional={!rest.required && !rest.readonly && !rest.disabled}
    >
      {isFramed ? (
        <div class={isPassword ? 'password' : 'to-copy'}>
          {input}
          {isPassword ? (
            <RevealButton of={id} />
          ) : (
            <CopyButton text={String(value ?? '')} what={label} />
          )}
        </div>
      ) : (
        input
      )}
    </FieldFrame>
  )
}

/** Shows and hides a typed password. app.js does that, so the button only exists with it. */
const RevealButton = ({ of }: { of: string }) => (
  <button
    type="button"
    class="reveal"
    data-reveal={of}
    aria-label="Show what you typed"
    aria-pressed="false"
    aria-controls={of}
  >
    <Icon name="eye" />
  </button>
)

type TextAreaProps = ControlProps<'placeholder' | 'disabled'> & {
  rows?: number
  /** True when the input is never shown again; the name of a checkbox when that depends on it. */
  secret?: boolean | string
}

export const TextArea = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value,
  code = false,
  rows = 3,
  secret = false,
  ...rest
}: TextAreaProps) => (
  <FieldFrame {...{ name, label, hint, id }} optional={!rest.required && !rest.disabled}>
    <textarea
      {...controlProps({ id, name, hint })}
      {...(code && codeProps)}
      {...rest}
      rows={rows}
      data-secret={secret === true ? '' : secret || undefined}
    >
      {/* the parser drops a first line break, so one is added */}
      {`\n${typeof secret === 'string' && flagOf(typed(secret, '')) ? '' : typed(name, value)}`}
    </textarea>
  </FieldFrame>
)

type SelectFieldProps = ControlProps<never> & {
  options: { value: string; label: string }[]
  /** True when what was chosen isn't shown again. */
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
  const chosen = secret ? (value ?? '') : typed(name, value)
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

/** A hidden field before it stands for the unticked box; `lone` omits it. */
export const Checkbox = ({
  name,
  label,
  hint,
  id = fieldId(name),
  value = false,
  lone = false,
  follows,
}: Field & {
  value?: boolean
  lone?: boolean
  /** Ticked while the text in the field of this name matches, until someone changes it. */
  follows?: { name: string; pattern: RegExp }
}) => (
  <div class="field check" data-invalid={complaintAbout(name) !== undefined || undefined}>
    {!lone && <input type="hidden" name={name} value="0" />}
    <input
      {...controlProps({ id, name, hint })}
      type="checkbox"
      data-follows={follows?.name}
      data-pattern={follows?.pattern.source}
      value="1"
      checked={flagOf(typed(name, value ? '1' : '0')) ?? false}
    />
    <label for={id}>{label}</label>
    <FieldNotes {...{ id, name, label, hint }} />
  </div>
)

/** Several of a list. The hidden field before them stands for none. */
export const Checkboxes = ({
  name,
  label,
  hint,
  id = fieldId(name),
  values,
  options,
}: Field & { values: readonly string[]; options: { value: string; label: string }[] }) => {
  const ticked = typed(name, values.join('\n')).split('\n')
  return (
    <fieldset class="field checks" data-invalid={complaintAbout(name) !== undefined || undefined}>
      <legend>{label}</legend>
      <input type="hidden" name={name} value="" />
      <div>
        {options.map((option) => (
          <label>
            <input
              class="input"
              type="checkbox"
              name={name}
              value={option.value}
              checked={ticked.includes(option.value)}
            />
            {option.label}
          </label>
        ))}
      </div>
      <FieldNotes {...{ id, name, label, hint }} />
    </fieldset>
  )
}

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
        <p
          id={`${id}-error`}
          class="field-error"
          data-again={complaint === enterAgain || undefined}
        >
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

/** No keyboard assistance for anything but prose. */
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

const complaintAbout = (name: string) => own(useContext(DraftContext).errors, name)

/** The submitted text of a field, or its value. */
const typed = (name: string, value: Value) =>
  own(useContext(DraftContext).values, name) ?? String(value ?? '')

/** A template may use any variable name, even `constructor`. */
const own = (texts: Record<string, string>, name: string) =>
  Object.hasOwn(texts, name) ? texts[name] : undefined

/** Errors such as "must be at most 60 characters." start with the field's name. */
const sentence = (label: string, message: string) =>
  /^[a-z]/.test(message) ? `${label} ${message}` : message
