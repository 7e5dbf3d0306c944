import { zValidator } from '@hono/zod-validator'
import type { Context } from 'hono'
import { z } from 'zod'
import type { ZodType } from 'zod'
import { camelCase, readBody } from './body.ts'
import { check } from './input.ts'

/**
 * Checks the query string against one schema and gives `c.req.valid('query')`. Names may be written
 * as forms write them or as JSON does, and an empty value counts as left out.
 */
export const query = <Schema extends ZodType>(schema: Schema) =>
  zValidator('query', schema, undefined, {
    validationFunction: (_, values) => ({
      success: true,
      data: check(schema, { kind: 'form', data: underOurNames(withoutEmpty(values as Query)) }),
    }),
  })

/** The fields of a DELETE, which come in the body or, as htmx sends a form, in the query. */
export async function bodyOrQuery<Schema extends ZodType>(c: Context, schema: Schema) {
  const { data } = await readBody(c)
  return check(schema, { kind: 'form', data: { ...data, ...underOurNames(c.req.queries()) } })
}

/** Of the data of a stream. */
export const streamFormat = z.enum(['html', 'json'], 'wants html or json.')

/** A resource as it changes: rendered for its page, or as JSON. */
export const streamQuery = z.object({ format: streamFormat.default('html') })

type Query = Record<string, string | string[]>

const underOurNames = (query: Query): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      const texts = [value].flat()
      return [camelCase(name), texts.length > 1 ? texts : texts[0]]
    }),
  )

const withoutEmpty = (query: Query): Query =>
  Object.fromEntries(
    Object.entries(query)
      .map(([name, value]) => [name, [value].flat().filter((text) => text !== '')] as const)
      .filter(([, texts]) => texts.length > 0),
  )
