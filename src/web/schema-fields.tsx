import type { Child } from 'hono/jsx'
import { z } from 'zod'
import type { ZodType } from 'zod'
import { snakeCase } from './body.ts'
import { SelectField, TextField } from './fields-view.tsx'

/** How a form shows a field. A hint that is a string is also its description in the API document. */
export type FieldLook = {
  label: string
  hint?: Child
  placeholder?: string
  /** A password is never shown again. */
  type?: 'password' | 'url'
  /** For names, keys and addresses: no spell check, monospace. */
  code?: boolean
  /** Makes it a select instead of a text field. */
  options?: { value: string; label: string }[]
  /** The value in an untouched form. */
  initial?: string
}

const looks = new WeakMap<z.core.$ZodType, FieldLook>()

/** Declares how a field is shown beside its rule. */
export const field = <Schema extends ZodType>(schema: Schema, look: FieldLook): Schema => {
  looks.set(schema, look)
  return schema
}

export const lookOf = (schema: z.core.$ZodType) => looks.get(schema)

/** The fields of a form in the order of its schema; those without a look are skipped. */
export const SchemaFields = ({ schema }: { schema: ZodType }) => {
  const shown = Object.entries(shapeOf(schema)).flatMap(([key, rule]) => {
    const look = lookOf(rule)
    return look
      ? [{ ...look, name: snakeCase(key), required: !rule.safeParse(undefined).success }]
      : []
  })
  const first = shown.find(({ options }) => !options)
  return (
    <>
      {shown.map(({ options, initial, ...text }) =>
        options ? (
          <SelectField {...text} required={undefined} value={initial} options={options} />
        ) : (
          <TextField
            {...text}
            value={initial}
            autocomplete="off"
            autofocus={text.name === first?.name}
          />
        ),
      )}
    </>
  )
}

/** The fields of an object, also of one whose parts are checked together afterwards. */
function shapeOf(schema: ZodType): Record<string, ZodType> {
  if (schema instanceof z.ZodPipe) return shapeOf(schema.in as ZodType)
  return (schema as z.ZodObject).shape as Record<string, ZodType>
}
