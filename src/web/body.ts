import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { AppError, invalidField } from '../platform/errors.ts'
import { fieldsOf, mediaType } from './form-fields.ts'

/** A submitted body under its JSON names, and the raw values of a form for redrawing it. */
export type Body = {
  kind: 'form' | 'json'
  data: Record<string, unknown>
  values: Record<string, string>
}

/** Reads a JSON or form body; an empty one has no fields. A form's names are snake_case, empty is null. */
export async function readBody(c: Context): Promise<Body> {
  if (isJson(c)) return { kind: 'json', data: await readJson(c), values: {} }
  const fields = await fieldsOf(c)
  if (!fields && (await c.req.text()) !== '')
    throw new HTTPException(415, {
      message: 'Send the body as a form, or as JSON with Content-Type: application/json.',
    })
  const entries = [...(fields ?? [])]
    .filter(([name]) => !notData.includes(name))
    .map(([name, values]) => [name, values.map(textOf)] as const)
  const shown = entries.filter(([name]) => !/password/i.test(name))
  return {
    kind: 'form',
    // repeated names are joined as lines: a list has one entry per line, and the last line of a flag counts
    data: nested(entries.map(([name, all]) => [camelCase(name), all.join('\n') || null])),
    // the first of several is the hidden field for none
    values: Object.fromEntries(
      shown.map(([name, all]) => [name, all.slice(all.length > 1 ? 1 : 0).join('\n')]),
    ),
  }
}

/**
 * A form's `build_settings.start` is the `start` of the object `buildSettings`. Maps, as `constructor.keys` would
 * change an object that the whole process shares.
 */
function nested(entries: [string, string | null][]): Record<string, unknown> {
  const data = new Map<string, string | null | Map<string, string | null>>()
  for (const [name, value] of entries) {
    const [outer, inner] = name.split('.', 2) as [string, string?]
    const known = data.get(outer)
    if (inner === undefined) data.set(outer, value)
    else if (known instanceof Map) known.set(inner, value)
    else data.set(outer, new Map([[inner, value]]))
  }
  return Object.fromEntries(
    Array.from(data, ([name, value]) => [
      name,
      value instanceof Map ? Object.fromEntries(value) : value,
    ]),
  )
}

/** A field's name as the sender of this request writes it. */
export const fieldName = (c: Context, name: string) =>
  isJson(c) ? camelCase(name) : snakeCase(name)

/** Fields of our forms about the request instead of its object. */
const notData = ['csrf_token', '_method', '_question', '_answer']

export const isJson = (c: Context) => mediaType(c) === 'application/json'

async function readJson(c: Context) {
  const text = await c.req.text()
  const data = text === '' ? {} : parseJson(text)
  if (typeof data === 'object' && data !== null && !Array.isArray(data))
    return data as Record<string, unknown>
  throw invalidField('', 'The body must be a JSON object.')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new AppError('bad_request', 'The body isn’t valid JSON. Check its syntax.')
  }
}

const textOf = (value: string | File) =>
  typeof value === 'string' ? value.replaceAll('\r\n', '\n') : ''

export const camelCase = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Names in capitals, such as those of variables, are unchanged. */
export const snakeCase = (name: string) =>
  name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
