import type { FieldError } from '../../platform/errors.ts'
import { AppError } from '../../platform/errors.ts'
import { generated } from './generate.ts'
import { newBudget, compilePattern } from './pattern.ts'
import type { Budget } from './pattern.ts'
import type { AddressOf, Values, Variable, Variables } from './variables.ts'
import { isDerived } from './variables.ts'

const maxBytes = 32 * 1024
/** In characters. Longer values are refused for variables with a pattern. */
const maxMatched = 4096

/**
 * Returns the values of an instance's variables: the user's, else the stored one, else the default, else a
 * new one, to be stored. Existing values are never regenerated. A variable without any of these isn't in the
 * map. Throws `invalid` with each invalid field.
 */
export function fillValues(
  variables: Variables,
  { given, kept = new Map() }: { given: Values; kept?: Values },
): Map<string, string> {
  const errors = [...given.keys()]
    .filter((name) => variables.get(name)?.hidden !== false)
    .map((field) => ({ field, message: 'isn’t a variable of this template.' }))
  const values = new Map<string, string>()
  const budget = newBudget()
  for (const variable of variables.values()) {
    const value = known(variable, given, kept)
    const message = complaint(variable, value, budget)
    if (message) errors.push({ field: variable.name, message })
    else if (value !== undefined) values.set(variable.name, value)
  }
  if (errors.length > 0) throw refused(errors)
  return generated(variables, values)
}

/** Adds the values that depend on addresses. These are never stored, because they change with them. */
export const withDerived = (variables: Variables, values: Values, addressOf: AddressOf) =>
  generated(variables, values, addressOf)

/** The variables that the user may see and change. */
export const askedFor = (variables: Variables) =>
  [...variables.values()].filter(({ hidden }) => !hidden)

/** An empty field of a generated variable keeps its value, or generates one. */
function known(variable: Variable, given: Values, kept: Values): string | undefined {
  const value = given.get(variable.name)
  const empty = value === undefined || (value === '' && (variable.generate || !variable.default))
  if (!empty) return value
  const before = isDerived(variable.generate) ? undefined : kept.get(variable.name)
  if (value === '' && !variable.generate && !variable.required) return undefined
  return before ?? (variable.generate ? undefined : (variable.default ?? undefined))
}

function complaint(variable: Variable, value: string | undefined, budget: Budget): string | null {
  const { generate, required, pattern, options } = variable
  if (value === undefined || value === '')
    return required && !generate ? 'must have a value.' : null
  if (value.includes('\0')) return 'can’t have a NUL character.'
  if (Buffer.byteLength(value) > maxBytes) return 'must be at most 32 KiB.'
  if (options.length > 0 && !options.includes(value)) return `must be one of ${options.join(', ')}.`
  if (pattern === null) return null
  if (value.length > maxMatched) return `must be at most ${maxMatched} characters.`
  return compilePattern(pattern)(value, budget) ? null : ruleOf(pattern)
}

/** The rule of a pattern; of the usual one for names and passwords as a sentence. */
function ruleOf(pattern: string) {
  const usual = /^\^\[A-Za-z0-9_-\](?:\+|\{(\d+),\})\$$/.exec(pattern)
  if (!usual) return `must match the pattern ${pattern} of the template.`
  return `must be ${usual[1] ?? 1} or more of the letters A to Z, digits, _ and -.`
}

const refused = (fields: FieldError[]) =>
  new AppError('invalid', fields.map(({ field, message }) => `${field} ${message}`).join(' '), {
    fields,
  })
