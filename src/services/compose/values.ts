import type { FieldError } from '../../platform/errors.ts'
import { AppError } from '../../platform/errors.ts'
import { isWhole, notWhole } from '../../web/fields.ts'
import { newBudget, compilePattern } from './pattern.ts'
import type { Budget } from './pattern.ts'
import type {
  AddressOf,
  Values,
  Variable,
  Variables,
  Alphabet,
  Claims,
  Generate,
} from './variables.ts'
import { isDerived } from './variables.ts'
import { randomBytesOf, signedToken } from '../../platform/secrets.ts'
import { join } from './join.ts'
import { jsonOrNull } from '../../platform/json.ts'

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
  if (!isWhole(value)) return notWhole
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

const digits = '0123456789'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const alphabets: Record<Alphabet, string> = {
  alphanumeric: lower.toUpperCase() + lower + digits,
  lowercase: lower + digits,
  // no character with a special meaning in a shell, a URL, YAML or a dotenv file
  symbols: `${lower.toUpperCase()}${lower}${digits}-_.~!*+=`,
}

const maxDepth = 100
/** In characters, for all composed values together: a few may double each other many times. */
const maxComposed = 4 * 1024 * 1024

/**
 * Generates values for all variables that have none, their dependencies first. Without `addressOf`, those
 * that depend on addresses are omitted. With it, the result also has the URL of each host, under its name
 * followed by `://` or by its port.
 */
function generated(
  variables: Variables,
  known: Values,
  addressOf?: AddressOf,
): Map<string, string> {
  const values = new Map(known)
  const derived = new Map<string, string>()
  /** URLs of variables that are hosts, for `join`. */
  const addresses = new Map<string, Map<string, string>>()
  const underway: string[] = []
  let room = maxComposed
  for (const { name, generate } of variables.values())
    if (addressOf || !isDerived(generate)) valueOf(name)
  if (!addressOf) return values
  for (const [name, found] of addresses) for (const [at, url] of found) derived.set(name + at, url)
  return new Map([...values, ...derived])

  function valueOf(name: string): string {
    const generate = variables.get(name)?.generate
    const there = values.get(name) ?? derived.get(name)
    if (there !== undefined || !generate) return there ?? ''
    if (underway.includes(name)) {
      const cycle = [...underway, name].join(' → ')
      throw new AppError(
        'invalid',
        `These variables depend on each other: ${cycle}. Set a value for one.`,
      )
    }
    if (underway.length === maxDepth)
      throw new AppError(
        'invalid',
        `The variable ${name} depends on others more than 100 levels deep. Flatten it.`,
      )
    underway.push(name)
    const value = make(name, generate)
    underway.pop()
    ;(isDerived(generate) ? derived : values).set(name, value)
    return value
  }

  function make(name: string, generate: Generate): string {
    switch (generate.kind) {
      case 'text':
        return randomText(alphabets[generate.alphabet], generate.length)
      case 'hex':
        return Buffer.from(randomBytesOf(Math.ceil(generate.length / 2)))
          .toString('hex')
          .slice(0, generate.length)
      case 'base64':
        return Buffer.from(randomBytesOf(generate.length)).toString('base64')
      case 'email':
        return `${randomText(alphabets.lowercase, 12)}@example.com`
      case 'uuid':
        return crypto.randomUUID()
      case 'jwt':
        return token(generate)
      case 'address':
        return address(name, generate)
      case 'time': {
        const time = generate.of === null ? Date.now() : Date.parse(generate.of)
        return String(generate.unit === 'ms' ? time : Math.floor(time / 1000))
      }
      case 'port':
        return String(20_000 + (Buffer.from(randomBytesOf(4)).readUInt32BE() % 10_000))
      case 'composed':
        return compose(name, generate.parts)
    }
  }

  function compose(name: string, parts: Extract<Generate, { kind: 'composed' }>['parts']) {
    for (const part of parts) {
      room -= (typeof part === 'string' ? part : valueOf(part.variable)).length + 1
      if (room < 0)
        throw new AppError('invalid', 'The values are over 4 MiB. Use variables less often.')
    }
    const [only] = parts
    const alias = parts.length === 1 && typeof only === 'object' && addresses.get(only.variable)
    if (alias) addresses.set(name, alias)
    return join(parts, {
      valueOf: ({ variable }) => valueOf(variable),
      addressOf: ({ variable }, at) => addresses.get(variable)?.get(at),
    })
  }

  function token({ key, claims, seconds }: Extract<Generate, { kind: 'jwt' }>) {
    const now = Math.floor(Date.now() / 1000)
    const times = { iat: now, ...(seconds !== null && { exp: now + seconds }) }
    const signing = key === null ? randomText(alphabets.alphanumeric, 64) : valueOf(key)
    return signedToken({ ...times, ...claimsOf(claims) }, signing)
  }

  function claimsOf(claims: Claims): Record<string, unknown> {
    if (typeof claims.variable !== 'string' || Object.keys(claims).length > 1) return claims
    const parsed = jsonOrNull(valueOf(claims.variable))
    if (parsed && typeof parsed === 'object') return parsed as Record<string, unknown>
    throw new AppError('invalid', `${claims.variable} must be a JSON object with a token’s claims.`)
  }

  function address(name: string, { form, service, port }: Extract<Generate, { kind: 'address' }>) {
    const url = addressOf?.(service, port)
    if (url === undefined)
      throw new AppError('invalid', `No address is known for ${service}. Publish one of its ports.`)
    if (form !== 'url')
      addresses.set(
        name,
        new Map([
          ['://', url],
          [`:${port}`, url],
        ]),
      )
    return form === 'url' ? url.replace(/\/$/, '') : new URL(url)[form]
  }
}

/** Discards bytes past the last multiple of the alphabet's length, so that all letters are equally likely. */
function randomText(alphabet: string, length: number) {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length)
    for (const byte of randomBytesOf(length))
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
  return text
}
