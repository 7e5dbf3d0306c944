import type { Context, HonoRequest } from 'hono'
import { AppError } from '../platform/errors.ts'

export type FormFields = Map<string, (string | File)[]>

/** More than any form of ours has; each costs far more than its bytes. */
const mostFields = 1000
const longestName = 200

const read = new WeakMap<HonoRequest, Promise<FormFields | null>>()

/**
 * The fields of a form by name, each with all its values; null where the body is none. The body is
 * read once, however many ask. Throws for a form that is broken or has more than any of ours.
 */
export const fieldsOf = (c: Context): Promise<FormFields | null> =>
  read.getOrInsertComputed(c.req, () => readFields(c))

const countFields: Record<string, (body: Buffer, type: string) => number> = {
  __proto__: null as never,
  'application/x-www-form-urlencoded': (body) => countOf('&', body) + 1,
  'multipart/form-data': (body, type) => {
    const boundary = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type)
    return countOf(`--${boundary?.[1] ?? boundary?.[2] ?? ''}`, body) - 1
  },
}

/** Whether the body says that it is a form. */
export const isForm = (c: Context) => mediaType(c) in countFields

export const mediaType = (c: Context) =>
  c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''

async function readFields(c: Context) {
  if (!isForm(c)) return null
  const type = c.req.header('Content-Type')!
  const bytes = await c.req.arrayBuffer()
  const count = countFields[mediaType(c)]!(Buffer.from(bytes), type)
  if (count > mostFields)
    throw new AppError(
      'too_large',
      `The form has more than ${mostFields} fields. Send less at once.`,
    )
  const form = await parse(bytes, type)
  const fields: FormFields = new Map()
  for (const [name, value] of form) {
    if (name.length > longestName)
      throw new AppError('bad_request', `A field has a name of over ${longestName} characters.`)
    fields.getOrInsertComputed(name, () => []).push(value)
  }
  return fields
}

/** The texts of a form but those of some names, to be sent once more. */
export const textsBut = (fields: FormFields, names: string[]) =>
  [...fields].flatMap(([name, values]) =>
    names.includes(name)
      ? []
      : values.filter((value) => typeof value === 'string').map((value) => ({ name, value })),
  )

async function parse(bytes: ArrayBuffer, type: string) {
  try {
    return await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  } catch {
    throw new AppError('bad_request', 'The form could not be read. Send it again.')
  }
}

/** Stops where there are too many. */
function countOf(text: string, body: Buffer) {
  let count = 0
  for (let at = body.indexOf(text); at >= 0 && count <= mostFields + 1; count++)
    at = body.indexOf(text, at + text.length)
  return count
}
