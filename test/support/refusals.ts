import { expect } from 'bun:test'
import type { z } from 'zod'
import type { TestApp } from './app.ts'
import type { TestClient } from './client.ts'

type Body = Record<string, unknown>

/**
 * Makes one field after another wrong. Each value is refused by the schema, by the field's name; the first
 * of a field, its first text and those with characters of HTML are sent, and so is all that the schema
 * takes, or all without a schema: as JSON, as a program's form, as a browser's and as htmx's. Each time
 * it is refused by its name, shown again as it was typed, and nothing is stored.
 */
export async function expectRefusals(
  t: TestApp,
  client: TestClient,
  {
    method,
    path,
    valid,
    wrong,
    schema,
    notShown = [],
  }: {
    method: 'POST' | 'PUT'
    path: string
    /** A body that would be taken. */
    valid: Body
    /** Wrong values by field, under its JSON name. */
    wrong: Record<string, unknown[]>
    schema?: z.ZodType
    /** Fields that the form does not have; all of them when there is no form. */
    notShown?: string[] | 'all'
  },
) {
  const before = contentsOf(t)
  for (const [field, values] of Object.entries(wrong))
    for (const value of values) {
      const isSent = value === values[0] || value === values.find(isText) || hasMarkup(value)
      if (!isSent && isRefused(field, value)) continue
      const sent = `${method} ${path} with ${field} = ${JSON.stringify(value)?.slice(0, 80)}`
      const isShown = notShown !== 'all' && !notShown.includes(field)
      await refusedAsJson(sent, { ...valid, [field]: value }, field)
      if (typeof value === 'string' && value !== '')
        await refusedAsForm(sent, formOf({ ...valid, [field]: value }), { field, isShown })
      expect(contentsOf(t), sent).toEqual(before)
    }

  function isRefused(field: string, value: unknown) {
    const { issues = [] } = schema?.safeParse({ ...valid, [field]: value }).error ?? {}
    return issues.some(({ path }) => path[0] === field)
  }

  async function refusedAsJson(sent: string, body: Body, field: string) {
    const answer = await client[method === 'POST' ? 'post' : 'put'](path, body)
    expect(answer.status, `${sent}: ${answer.text}`).toBe(422)
    expect(answer.headers.get('Content-Type')).toBe('application/problem+json')
    expect(fieldsOf(answer.json), sent).toContain(field)
  }

  async function refusedAsForm(
    sent: string,
    form: Record<string, string>,
    { field, isShown }: { field: string; isShown: boolean },
  ) {
    const name = snakeCase(field)
    const send = (headers: Record<string, string>) =>
      client.send(path, { method, body: new URLSearchParams(form), headers })

    const program = await send({ Accept: 'application/json' })
    expect(program.status, sent).toBe(422)
    expect(fieldsOf(await program.json()), sent).toContain(name)

    for (const headers of [{ Accept: 'text/html' }, { Accept: '*/*', 'HX-Request': 'true' }]) {
      const drawn = await send(headers)
      const html = await drawn.text()
      expect(drawn.status, sent).toBe(422)
      expect(html.startsWith('<!DOCTYPE html>'), sent).toBe(!('HX-Request' in headers))
      if (!isShown) continue
      expect(html.includes(`id="field-${name}-error"`), `${sent}: the complaint is shown`).toBe(
        true,
      )
      expect(html.includes(escaped(form[name]!)), `${sent}: what was typed is kept`).toBe(true)
    }
  }
}

const isText = (value: unknown) => typeof value === 'string' && value !== ''
const hasMarkup = (value: unknown) => typeof value === 'string' && /[<>"&]/.test(value)

/** All rows of the state, but not who was seen when. */
export function contentsOf({ db }: Pick<TestApp, 'db'>) {
  const tables = db.$client
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('sessions')",
    )
    .all()
  return tables.map(({ name }) => [name, db.$client.query(`SELECT * FROM "${name}"`).all()])
}

export const escaped = (text: string) =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;')

/** A JSON body as the form that says the same. */
const formOf = (body: Body) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [snakeCase(name), String(value)]))

const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

const fieldsOf = (problem: any): string[] =>
  (problem.errors ?? []).map(({ field }: { field: string }) => field)
