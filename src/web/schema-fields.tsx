import type { Child } from 'hono/jsx'
import { z } from 'zod'
import type { ZodType } from 'zod'
import { snakeCase } from './body.ts'
import type { Draft } from './draft.ts'
import { Checkbox, Checkboxes, SelectField, TextArea, TextField } from './fields-view.tsx'

/** What is said of a field beside its rule. A hint that is a string is also its description in the API document. */
export type FieldLook = {
  label: string
  /** Of a number, such as MiB. */
  unit?: string
  hint?: Child
  placeholder?: string
  /** A password is never shown again. */
  type?: 'password' | 'url' | 'datetime-local'
  inputmode?: 'numeric' | 'decimal' | 'url'
  /** For names, keys and addresses: no spell check, monospace. */
  code?: boolean
  /** A text area; a list has one entry per line. */
  isLong?: boolean
  /** Of a text area, if it isn't as high as its text. */
  rows?: number
  /** What is typed into a text area is never shown again. */
  secret?: boolean
  /** Makes it a checkbox. */
  isFlag?: boolean
  /** Of a checkbox: sends nothing unless it is ticked. */
  isLone?: boolean
  /** Shares a row with the next field, if that is narrow, too. */
  isNarrow?: boolean
  /** Makes it a select instead of a text field. */
  options?: { value: string; label: string }[]
  /** With options: several can be chosen. */
  isMany?: boolean
  /** Shown, but neither changed nor submitted. */
  disabled?: boolean
  /** It may be empty, whatever its rule: then its stored value stays. */
  isKept?: boolean
  /** It may not be empty in a form, though a change may omit it. */
  isRequired?: boolean
  /** The value in an untouched form. */
  initial?: string
  /** The section of its page. */
  group?: string
  /** Of a kind: others can't choose it. */
  adminOnly?: boolean
  /** When a change takes effect, if not at once. */
  applies?: 'with the next deployment'
}

/** A registry, since a schema that is refined afterwards is another one, with this one as its parent. */
const looks = z.registry<object>()

/** Declares how a field is shown beside its rule. */
export const field = <Schema extends ZodType>(schema: Schema, look: FieldLook): Schema => {
  looks.add(schema, look)
  return schema
}

/** Also of a field that was made optional, refined or transformed afterwards. */
export function lookOf(schema: z.core.$ZodType): FieldLook | undefined {
  const { innerType, in: before, out } = schema._zod.def as WrappedDef
  const inside = [innerType, before, out].filter((part) => part !== undefined)
  const own = looks.get(schema) as FieldLook | undefined
  return own ?? inside.map(lookOf).find((look) => look !== undefined)
}

type WrappedDef = Partial<Record<'innerType' | 'in' | 'out', z.core.$ZodType>>

/** With its unit. */
export const labelOf = ({ label, unit }: FieldLook) => (unit ? `${label} (${unit})` : label)

/** The fields of an object schema that are shown, in its order, with their looks. */
export const looksOf = (schema: ZodType): [name: string, look: FieldLook][] =>
  Object.entries(shapeOf(schema)).flatMap(([name, rule]) => {
    const look = lookOf(rule)
    return look ? [[name, look]] : []
  })

/** The names of a group's fields. */
export const namesIn = (schema: ZodType, group: string) =>
  looksOf(schema).flatMap(([name, look]) => (look.group === group ? [name] : []))

type Props = {
  schema: ZodType
  /** Puts the cursor into the first text field. */
  autofocus?: boolean
  /** Of an object inside of the form, such as `build_settings.`. */
  prefix?: string
  /** All that are shown, in the order of the schema, if omitted. */
  names?: readonly string[]
  /** The stored values. */
  values?: Record<string, unknown>
  /** Depends on more than the schema. */
  more?: Record<string, Partial<FieldLook>>
}

export const SchemaFields = ({
  schema,
  autofocus,
  prefix = '',
  names,
  values = {},
  more = {},
}: Props) => {
  const known = new Map(looksOf(schema))
  const shown = (names ?? [...known.keys()]).map((name) => ({
    name: prefix + snakeCase(name),
    look: { ...known.get(name)!, ...more[name] },
    required:
      known.get(name)!.isRequired ??
      (!more[name]?.isKept && !shapeOf(schema)[name]!.safeParse(undefined).success),
    value: values[name],
  }))
  const first = autofocus && shown.find(({ look }) => !look.options)
  return (
    <>
      {inRows(shown).map((row) =>
        row.length > 1 ? (
          <div class="field-row">
            {row.map((one) => (
              <SchemaField {...one} autofocus={one === first} />
            ))}
          </div>
        ) : (
          <SchemaField {...row[0]!} autofocus={row[0] === first} />
        ),
      )}
    </>
  )
}

/** Part of a form that is only open when one of its fields is set, or was refused. */
export const FoldedFields = ({
  title,
  draft,
  children,
  ...fields
}: Props & { title: string; names: readonly string[]; draft: Draft; children?: Child }) => {
  const known = new Map(looksOf(fields.schema))
  const isSet = (name: string) =>
    (textOf(fields.values?.[name] || undefined) ?? '') !== '' &&
    fields.values?.[name] !== known.get(name)?.initial
  const isOpen = fields.names.some((name) => snakeCase(name) in draft.errors || isSet(name))
  return (
    <details open={isOpen}>
      <summary>{title}</summary>
      <div class="form">{children ?? <SchemaFields {...fields} />}</div>
    </details>
  )
}

/** Two narrow ones share a row. */
function inRows<Shown extends { look: FieldLook }>(all: Shown[]) {
  const rows: Shown[][] = []
  for (const one of all) {
    const last = rows.at(-1)
    const isSecond = last?.length === 1 && last[0]!.look.isNarrow && one.look.isNarrow
    if (isSecond) last.push(one)
    else rows.push([one])
  }
  return rows
}

type FieldProps = {
  name: string
  look: FieldLook
  required: boolean
  value: unknown
  autofocus: boolean
}

const SchemaField = ({ name, look, required, autofocus, value: stored }: FieldProps) => {
  const {
    label: _,
    unit,
    options,
    initial,
    isLong,
    isFlag,
    isLone,
    isMany,
    isNarrow,
    isKept,
    group,
    adminOnly,
    applies,
    ...text
  } = look
  const { hint, rows, secret, ...line } = text
  const value = textOf(stored ?? initial)
  const shown = { name, label: labelOf(look), hint, value }
  if (isFlag)
    return <Checkbox {...shown} value={value === 'true' || value === '1'} lone={isLone ?? false} />
  if (options && isMany)
    return <Checkboxes {...shown} values={value?.split('\n') ?? []} options={options} />
  if (options) return <SelectField {...shown} options={options} />
  if (isLong)
    return (
      <TextArea
        {...shown}
        {...{ ...line, required, secret: secret ?? false }}
        rows={rows ?? rowsFor(value)}
      />
    )
  return <TextField {...shown} {...{ ...line, required, autofocus }} autocomplete="off" />
}

const textOf = (value: unknown) =>
  Array.isArray(value) ? value.join('\n') : value == null ? undefined : String(value)

const rowsFor = (text = '') => Math.min(8, Math.max(2, text.split('\n').length + 1))

const shapeOf = (schema: ZodType) => objectOf(schema).shape as Record<string, ZodType>

/** The object of each kind of a form; just one without kinds. */
export function objectsOf(schema: ZodType): z.ZodObject[] {
  if (schema instanceof z.ZodPipe) return objectsOf(schema.in as ZodType)
  if (schema instanceof z.ZodDiscriminatedUnion) return schema.options as unknown as z.ZodObject[]
  return [schema as z.ZodObject]
}

/** Undefined in a form without kinds. */
export const kindOf = ({ shape: { kind } }: z.ZodObject) =>
  kind instanceof z.ZodLiteral ? String(kind.value) : undefined

/** What is said of a kind; undefined in a form without kinds. */
export function kindLook(schema: ZodType, kind: unknown) {
  const object = objectOf(schema, kind)
  return kindOf(object) === undefined ? undefined : lookOf(object.shape.kind!)
}

/** The object of a form, also of one whose parts are checked together afterwards; of a kind, or the first. */
export function objectOf(schema: ZodType, kind?: unknown): z.ZodObject {
  const objects = objectsOf(schema)
  return objects.find((one) => kindOf(one) === kind) ?? objects[0]!
}
