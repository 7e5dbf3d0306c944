import { invalidField } from '../platform/errors.ts'
import { parseDotenv } from './dotenv.ts'
import { variableChanges } from './variable-changes.tsx'
import type { OpenVariable, Variable } from './variable-store.ts'

/** Replaces the value of a secret, which is never shown. */
export const kept = '••••••••'

/** Some tools replace such a reference; Davit passes values to an app byte for byte. */
export const holdsReference = (value: string | null) => /\$\{\w/.test(value ?? '')

/** Formats variables so that `readText` reads them unchanged, one per line unless a value has several. */
export const textOf = (variables: Variable[]) =>
  variables.map(({ key, value }) => `${key}=${value === null ? kept : quoted(value)}\n`).join('')

function quoted(value: string) {
  const isPlain = !/^[\s"'`]|\s#|[\r\n]|\s$/.test(value)
  if (isPlain) return value
  if (!/['\r]/.test(value)) return `'${value}'`
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\r', '\\r')}"`
}

/**
 * Returns the values that a text sets, by key, and in `unchanged` the secrets that it keeps. Throws for an
 * invalid line, and for one that keeps a value which doesn't exist.
 */
export function readText(text: string, stored: Pick<OpenVariable, 'key' | 'secret'>[]) {
  const secrets = new Set(stored.filter(({ secret }) => secret).map(({ key }) => key))
  const pairs = parseDotenv(text, { field: 'text', mayBeEmpty: true })
  const unchanged = new Set<string>()
  for (const [key, value] of pairs) {
    if (value !== kept) continue
    if (!secrets.has(key))
      throw invalidField('text', `${kept} keeps the value of a secret, but ${key} has none yet.`)
    unchanged.add(key)
    pairs.delete(key)
  }
  return { pairs, unchanged, hasComments: /^\s*#/m.test(text) }
}

export function changesOf(
  { pairs, unchanged }: ReturnType<typeof readText>,
  { stored, isSecret }: { stored: OpenVariable[]; isSecret: (key: string) => boolean },
) {
  const before = new Map(stored.map((variable) => [variable.key, variable]))
  const after = new Map(
    [...pairs].map(([key, value]) => [
      key,
      { value, secret: before.get(key)?.secret ?? isSecret(key) },
    ]),
  )
  for (const key of unchanged) after.set(key, before.get(key)!)
  const asIs = (value: string) => value
  return variableChanges(before, after, { from: asIs, to: asIs })
}
