import type { Context, HonoRequest } from 'hono'
import { AppError, invalidField } from '../platform/errors.ts'

export type FormFields = Map<string, (string | File)[]>

/** More than any of our forms has; each costs far more than its bytes. */
const maxFields = 1000
const longestName = 200

const read = new WeakMap<HonoRequest, Promise<FormFields | null>>()

/**
 * The fields of a form by name, each with all its values; null when the body isn't a form. The body is read
 * once and cached. Throws for a malformed form or one with too many fields.
 */
export const fieldsOf = (c: Context): Promise<FormFields | null> =>
  read.getOrInsertComputed(c.req, () => readFields(c))

const urlencoded = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'

/** By its content type. */
export const isForm = (c: Context) => [urlencoded, multipart].includes(mediaType(c))

export const mediaType = (c: Context) =>
  c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''

async function readFields(c: Context) {
  if (!isForm(c)) return null
  const boundary = mediaType(c) === multipart ? boundaryOf(c.req.header('Content-Type')!) : null
  const bytes = await c.req.arrayBuffer()
  const count = countOf(boundary === null ? '&' : `--${boundary}`, Buffer.from(bytes))
  if (count > maxFields + (boundary === null ? -1 : 1))
    throw new AppError(
      'too_large',
      `The form has more than ${maxFields} fields. Send less at once.`,
    )
  // parsed with the counted boundary: another parser may find a different one in the request's header
  const type = boundary === null ? urlencoded : `${multipart}; boundary="${boundary}"`
  const form = await parse(bytes, type)
  const fields: FormFields = new Map()
  for (const [name, value] of form) {
    if (name.length > longestName)
      throw new AppError(
        'bad_request',
        `A field has a name of more than ${longestName} characters.`,
      )
    fields.getOrInsertComputed(name, () => []).push(value)
  }
  return fields
}

/**
 * The text of a file that was uploaded for a field, in the field with its name and `_file`; null without one.
 * Throws when it is too large or not text.
 */
export async function uploadedText(
  c: Context,
  field: string,
  { max }: { max: number },
): Promise<string | null> {
  const file = (await fieldsOf(c))?.get(`${field}_file`)?.at(-1)
  if (!(file instanceof File) || file.size === 0) return null
  if (file.size > max) {
    const most = max % 2 ** 20 === 0 ? `${max / 2 ** 20} MiB` : `${max / 1024} KiB`
    throw new AppError('too_large', `The uploaded file is larger than ${most}. Shorten it.`)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer())
  } catch {
    throw invalidField(field, 'The uploaded file isn’t UTF-8 text. Save it as UTF-8.')
  }
}

/** Values of a form, except these names, for sending it again. */
export const textsBut = (fields: FormFields, names: string[]) =>
  [...fields].flatMap(([name, values]) =>
    names.includes(name)
      ? []
      : values.filter((value) => typeof value === 'string').map((value) => ({ name, value })),
  )

/** By RFC 2046 and RFC 9110. Null for a missing, repeated or odd boundary, which no browser sends. */
function boundaryOf(type: string) {
  const found = [...type.matchAll(/;\s*([^\s;="]+)=(?:"([^"]*)"|([^\s;"]*))\s*(?=;|$)/g)]
  const isWhole = found.map(([part]) => part).join('') === type.slice(type.indexOf(';'))
  const [boundary, ...others] = found.filter(([, name]) => name!.toLowerCase() === 'boundary')
  const value = boundary?.[2] ?? boundary?.[3] ?? ''
  if (isWhole && others.length === 0 && /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(value))
    return value
  throw unreadable()
}

const unreadable = () => new AppError('bad_request', 'The form couldn’t be read. Send it again.')

async function parse(bytes: ArrayBuffer, type: string) {
  try {
    return await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
  } catch {
    throw unreadable()
  }
}

/** Stops counting when there are too many. */
function countOf(text: string, body: Buffer) {
  let count = 0
  for (let at = body.indexOf(text); at >= 0 && count <= maxFields + 1; count++)
    at = body.indexOf(text, at + text.length)
  return count
}
