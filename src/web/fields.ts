import { z } from 'zod'
import { containerLimits } from '../platform/limits.ts'
import { splitWords } from '../platform/shell-words.ts'

/*
 * Field types of forms and JSON bodies. A form only sends text, so a number may be digits, a flag 1 or on, a
 * list one entry per line; a JSON body has real types. Null clears.
 */

/** Of a value that is missing or empty, which a form sends as null. */
const required = 'is required.'

export const unlessMissing = (problem: string) => ({
  error: ({ input }: { input?: unknown }) =>
    input === null || input === undefined ? required : problem,
})

/** JSON can have half of a character, which would be stored as another one. */
export const isWhole = (text: string) => text.isWellFormed()

export const notWhole = 'has half of a character (a lone surrogate). Enter it again.'

/** Text without surrounding whitespace and control characters. */
export const line = (what: string, { min = 1, max }: { min?: number; max: number }) =>
  z
    .string(unlessMissing(`must be ${what}.`))
    .trim()
    .min(min, min > 1 ? `must be ${what}.` : required)
    .max(max, `must be at most ${max} characters.`)
    .refine((text) => !hasControl(text), 'can’t have control characters.')
    .refine(isWhole, notWhole)

export const isAddress = (text: string) =>
  /^[^\s@<>(),;:"\\[\]]{1,64}@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*$/u.test(text)

/** For `superRefine`: what is said of a text, unless it is as it must be. */
export const unless =
  (refuse: (text: string) => string | null | undefined) =>
  (text: string, context: z.RefinementCtx) => {
    const message = refuse(text)
    if (message) context.addIssue({ code: 'custom', message })
  }

export const emailAddress = () =>
  line('an e-mail address', { max: 254 })
    .toLowerCase()
    .refine(isAddress, 'must be an e-mail address such as ada@example.com.')

/** A `randomCode` as it is shown, however it is typed. */
export const typedCode = (what: string) =>
  line(what, { max: 40 }).transform(
    (text) =>
      text
        .toUpperCase()
        .replace(/[^A-Z2-7]/g, '')
        .match(/.{1,4}/g)
        ?.join('-') ?? '',
  )

/** Any text, with line breaks and whitespace. */
export const block = (what: string, { max }: { max: number }) =>
  z
    .string(`must be ${what}.`)
    .max(max, `must be at most ${max} characters.`)
    .refine((text) => !text.includes('\0'), 'can’t have a NUL character.')
    .refine(isWhole, notWhole)

type Limits = { min: number; max: number }

export function whole(what: string, { min, max }: Limits) {
  const rule = `must be a whole number from ${min} to ${max} (${what}).`
  const number = z.int(rule).min(min, rule).max(max, rule)
  return z.preprocess((value) => (isDigits(value) ? Number(value) : value), number)
}

export function decimal(what: string, { min, max }: Limits) {
  const rule = `must be a number from ${min} to ${max} (${what}).`
  const number = z.number(rule).min(min, rule).max(max, rule)
  return z.preprocess((value) => (isDecimal(value) ? Number(value) : value), number)
}

/** In a form a hidden field for "off" precedes the checkbox: the last line counts. */
export const flag = () =>
  z.preprocess(
    (value) => (typeof value === 'string' ? (flagOf(value) ?? value) : value),
    z.boolean('must be true or false (in a form 1 or 0).'),
  )

/** A form has one entry per line; blank lines are ignored. */
export function lines<Entry extends string>(entry: z.ZodType<Entry>, { max }: { max: number }) {
  return z.preprocess(
    (value) => (typeof value === 'string' ? splitLines(value) : value),
    z
      .array(entry, unlessMissing('must be a list of strings.'))
      .max(max, `can have at most ${max} entries.`),
  )
}

/** Names with values; a form has one `NAME=value` per line. */
export const pairs = (name: z.ZodType<string>, { max }: { max: number }) =>
  z
    .preprocess(
      (value) => entriesOf(value),
      z
        .array(
          z.tuple(
            [name, block('strings as values', { max: 32_768 })],
            'has a line without =. Enter one KEY=value per line.',
          ),
          'must be names with values.',
        )
        .max(max, `can have at most ${max} entries.`),
    )
    .transform((entries): Record<string, string> => Object.fromEntries(entries))
    .meta({ sentAs: { type: 'object', additionalProperties: { type: 'string' } } })

/** A list of words, or a line that is split as a POSIX shell splits words. Stored as entered. */
export const command = () =>
  z
    .union(
      [block('a command', { max: maxCommand }), z.array(block('a word', { max: maxCommand }))],
      unlessMissing('must be a line or a list of words.'),
    )
    .superRefine((given, context) => {
      const refuse = (message: string) => context.addIssue({ code: 'custom', message })
      try {
        const words =
          typeof given === 'string' ? splitWords(given, (problem) => new Error(problem)) : given
        if (words.length === 0 || words[0] === '') refuse('must have at least one word.')
        if (words.join(' ').length > maxCommand) refuse(`must be at most ${maxCommand} characters.`)
      } catch (error) {
        refuse((error as Error).message)
      }
    })

/** Every list of containers includes the command. */
const maxCommand = containerLimits.listed

const hasControl = (text: string) => /[\u0000-\u001f\u007f\u2028\u2029]/.test(text)
const isDigits = (value: unknown) => typeof value === 'string' && /^\d{1,15}$/.test(value.trim())
const isDecimal = (value: unknown) =>
  typeof value === 'string' && /^\d{1,9}(\.\d{1,6})?$/.test(value.trim())

const flags = new Map([
  ...['1', 'on', 'true', 'yes'].map((word) => [word, true] as const),
  ...['0', 'off', 'false', 'no'].map((word) => [word, false] as const),
])

/** Undefined for a text that isn’t one. */
export const flagOf = (text: string) => flags.get(text.split('\n').at(-1)!.toLowerCase())

const splitLines = (text: string) =>
  text
    .split('\n')
    .map((entry) => entry.trim())
    .filter(Boolean)

/** Of an object, or of a form’s lines. */
export function entriesOf(value: unknown, sign = '=') {
  if (typeof value === 'string') return splitLines(value).map((line) => splitPair(line, sign))
  return typeof value === 'object' && value && !Array.isArray(value) ? Object.entries(value) : null
}

function splitPair(line: string, sign: string) {
  const at = line.indexOf(sign)
  return at < 0 ? [line] : [line.slice(0, at).trim(), line.slice(at + 1)]
}
