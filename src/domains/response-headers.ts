import { z } from 'zod'
import { entriesOf } from '../web/fields.ts'

/** Characters of all headers together: each response has them. */
const maxTotal = 8000

/** Reasons to refuse headers, by their names in lower case. */
const refused: Record<string, string> = {
  __proto__: null as never,
  ...Object.fromEntries(
    [
      ...['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'upgrade'],
      ...['transfer-encoding', 'content-length', 'content-encoding', 'content-range'],
      ...['proxy-authenticate', 'proxy-authorization', 'host', 'date'],
    ].map((name) => [name, 'is set by the server.']),
  ),
  'set-cookie': 'would replace all cookies that the app sets.',
  location: 'would replace the addresses to which the app redirects.',
  'content-type': 'would replace the type of everything that the app sends.',
}

const name = z.string('must be names with values.').superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message })
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(text))
    refuse('has an invalid header name. Use letters, digits and hyphens.')
  const why = refused[text.toLowerCase()]
  if (why) refuse(`has ${text}, which ${why}`)
})

const value = z
  .string('must be names with string values.')
  .refine((text) => !/[\r\n]/.test(text), 'can’t have a line break in a value.')
  .refine((text) => /^[\t\x20-\x7e]*$/.test(text), 'can only have ASCII characters in values.')

/** Headers of each response, overriding the app's. A form has one `Name: value` per line. */
export const responseHeaders = z
  .preprocess(
    (value) => entriesOf(value, ':'),
    z
      .array(
        z.tuple([name, value], 'has a line without a colon. Enter one Name: value per line.'),
        'must be names with values.',
      )
      .max(50, 'can have at most 50 entries.'),
  )
  .refine(
    (entries) => new Set(entries.map(([name]) => name.toLowerCase())).size === entries.length,
    'has a name twice.',
  )
  .transform((entries): Record<string, string> =>
    Object.fromEntries(entries.map(([name, value]) => [name, value.trim()])),
  )
  .refine(
    (headers) => Object.entries(headers).flat().join('').length <= maxTotal,
    `can have at most ${maxTotal} characters.`,
  )
  .meta({ sentAs: { type: 'object', additionalProperties: { type: 'string' } } })
