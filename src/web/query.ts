import { zValidator } from '@hono/zod-validator'
import { createMiddleware } from 'hono/factory'
import { z } from 'zod'
import type { ZodType } from 'zod'
import { camelCase, readBody } from './body.ts'
import { checking } from './checks.ts'
import { check } from './input.ts'
import type { Input } from './input.ts'

/**
 * Checks the query string against one schema and sets `c.req.valid('query')`. Names may be in form or JSON
 * style, and an empty value counts as missing.
 */
export const query = <Schema extends ZodType>(schema: Schema) =>
  checking(
    { query: schema },
    zValidator('query', schema, undefined, {
      validationFunction: (_, values) => ({
        success: true,
        data: check(schema, { kind: 'form', data: underOurNames(withoutEmpty(values as Query)) }),
      }),
    }),
  )

/** Checks a DELETE's fields, in the body or, as htmx sends them, in the query; sets `c.var.input`. */
export const bodyOrQuery = <Schema extends ZodType>(schema: Schema) =>
  checking(
    { query: schema },
    createMiddleware<Input<Schema>>(async function readFields(c, next) {
      const { data } = await readBody(c)
      const given = { ...data, ...underOurNames(c.req.queries()) }
      c.set('input', check(schema, { kind: 'form', data: given }))
      await next()
    }),
  )

export const streamFormat = z.enum(['html', 'json'], 'must be html or json.')

/** A stream of a resource: HTML for its page, or JSON. */
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
