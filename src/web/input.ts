import type { Context } from 'hono'
import { createMiddleware } from 'hono/factory'
import type { z, ZodType } from 'zod'
import { AppError, httpStatusOf, withSubject } from '../platform/errors.ts'
import type { ErrorCode, FieldError } from '../platform/errors.ts'
import { camelCase, readBody, snakeCase } from './body.ts'
import type { Body } from './body.ts'
import { checking } from './checks.ts'
import { clientOf } from './client.ts'
import { enterAgain } from './draft.ts'
import type { Draft } from './draft.ts'
import type { Env } from './factory.ts'
import { misplaced } from './kind-form.ts'
import { looksOf, objectOf } from './schema-fields.tsx'
import { show } from './respond.tsx'
import type { View } from './respond.tsx'

export type Input<Schema extends ZodType> = Env & { Variables: { input: z.output<Schema> } }

type Data = Body['data']

/**
 * Checks the body, form or JSON, against one schema and stores the result in `c.var.input`. When the schema
 * or the handler refuses a browser's form, `again` redraws it with its input, or answers null where there was
 * only a button. `complete` adds what a change may omit; `sent` then describes the body.
 */
export const input = <Schema extends ZodType>(
  schema: Schema,
  again?: (c: Context, draft: Draft) => View | null | Promise<View>,
  { complete, sent = schema }: { complete?: (c: Context, data: Data) => Data; sent?: ZodType } = {},
) =>
  checking(
    { body: sent },
    createMiddleware<Input<Schema>>(async function readInput(c, next) {
      const body = await readBody(c)
      const { refusal } = c.var
      if (refusal) return redrawOrThrow(refusal)
      try {
        const data = complete ? complete(c, body.data) : body.data
        c.set('input', check(schema, { kind: body.kind, data }))
      } catch (error) {
        return redrawOrThrow(error)
      }
      await next()
      const redrawn = await redraw(c.error)
      if (redrawn) c.res = redrawn
      return

      async function redrawOrThrow(error: unknown) {
        const redrawn = await redraw(error)
        if (redrawn) return redrawn
        throw error
      }

      function isShownInForm(error: unknown): error is AppError {
        return (
          again !== undefined &&
          clientOf(c) !== 'program' &&
          error instanceof AppError &&
          shownInForm.includes(error.code)
        )
      }

      /** Null for what isn't shown in a form. */
      async function redraw(error: unknown) {
        if (!isShownInForm(error)) return null
        const { code, fields, message } = error
        const refused = Object.fromEntries(fields.map((e) => [snakeCase(e.field), e.message]))
        const errors = { ...lostOf(schema, body), ...refused }
        const draft = { values: body.values, errors, message: fields.length > 0 ? null : message }
        const view = await again!(c, draft)
        return view && show(c, view, httpStatusOf[code])
      }
    }),
  )

/** Refusals that the form itself can show; anything else gets the error page. */
const shownInForm: ErrorCode[] = [
  'invalid',
  'conflict',
  'unauthorized',
  'forbidden',
  'too_many',
  'bad_gateway',
]

/** The form has a sent password no more: it must not be taken for an empty one, which keeps the stored one. */
const lostOf = (schema: ZodType, { data }: Body) =>
  Object.fromEntries(
    looksOf(objectOf(schema, data.kind)).flatMap(([name, { type }]) =>
      type === 'password' && data[name] ? [[snakeCase(name), enterAgain]] : [],
    ),
  )

/** Returns the validated data. Throws `invalid` with each field's first error, as the sender names it. */
export function check<Schema extends ZodType>(
  schema: Schema,
  { data, kind }: Omit<Body, 'values'>,
) {
  const checked = schema.safeParse(data)
  const issues = checked.success
    ? [
        ...mistyped({ data, kind }, checked.data as object),
        ...misnamed(schema, { data, kind }),
        ...misplaced(schema, data),
      ]
    : checked.error.issues
  if (checked.success && issues.length === 0) return checked.data
  const fields = new Map<string, FieldError>()
  for (const { path, message } of issues) {
    const name = path.slice(0, typeof path[1] === 'string' ? 2 : 1).join('.')
    const field = kind === 'form' ? snakeCase(name) : name
    if (!fields.has(field)) fields.set(field, { field, message })
  }
  const list = [...fields.values()]
  throw new AppError('invalid', list.map((e) => withSubject(e.field, e.message).trim()).join(' '), {
    fields: list,
  })
}

/** Only a form sends numbers, flags and lists as strings; in JSON they must have their type. */
function mistyped({ data, kind }: Omit<Body, 'values'>, checked: object) {
  if (kind === 'form') return []
  return Object.entries(checked)
    .filter(([name, value]) => typeof data[name] === 'string' && isNoText(value))
    .map(([name, value]) => ({
      path: [name],
      message: `must be ${jsonTypeOf(value)}, not a string.`,
    }))
}

/** Unknown names are ignored, but a form's name in JSON would silently lose a value. */
function misnamed(schema: ZodType, { data, kind }: Omit<Body, 'values'>) {
  const known: object = objectOf(schema, data.kind).shape ?? {}
  if (kind === 'form') return []
  return Object.keys(data)
    .filter((name) => !(name in known) && camelCase(name) in known)
    .map((name) => ({ path: [camelCase(name)], message: `is the name in JSON, not ${name}.` }))
}

const isNoText = (value: unknown) =>
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'object' && value !== null)

function jsonTypeOf(value: unknown) {
  if (Array.isArray(value)) return 'a list'
  return { number: 'a number', boolean: 'true or false' }[String(typeof value)] ?? 'an object'
}
