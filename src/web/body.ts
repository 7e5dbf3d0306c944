import type { Context } from 'hono'
import { AppError } from '../errors.ts'

/** A submitted body under its JSON names, and the raw texts of a form for drawing it again. */
export type Body = {
  kind: 'form' | 'json'
  data: Record<string, unknown>
  values: Record<string, string>
}

/** Reads a JSON or form body. Form names are snake_case; an empty form field counts as null. */
export async function readBody(c: Context): Promise<Body> {
  const type = c.req.header('Content-Type')?.split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json') return { kind: 'json', data: await readJson(c), values: {} }
  const entries = Object.entries(await readForm(c)).map(
    ([name, value]) => [name, lastText(value)] as const,
  )
  return {
    kind: 'form',
    data: Object.fromEntries(entries.map(([name, value]) => [camelCase(name), value || null])),
    values: Object.fromEntries(entries.filter(([name]) => !/password|csrf/.test(name))),
  }
}

async function readJson(c: Context) {
  const data: unknown = await c.req.json().catch(() => {
    throw new AppError('bad_request', 'The body is not JSON. Check its syntax.')
  })
  if (typeof data === 'object' && data !== null && !Array.isArray(data))
    return data as Record<string, unknown>
  throw new AppError('invalid', 'The body must be a JSON object.')
}

const readForm = (c: Context) =>
  c.req.parseBody({ all: true }).catch(() => {
    throw new AppError('bad_request', 'The form could not be read. Send it again.')
  })

/** Of repeated names the last counts: a checkbox follows the hidden field that stands for "off". */
function lastText(value: unknown) {
  const last = Array.isArray(value) ? value.at(-1) : value
  return typeof last === 'string' ? last.replaceAll('\r\n', '\n') : ''
}

const camelCase = (name: string) =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

export const snakeCase = (name: string) =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
