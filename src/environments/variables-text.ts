import { invalidField } from '../platform/errors.ts'
import { parseDotenv } from './dotenv.ts'
import type { OpenVariable, Variable } from './variable-store.ts'

/** Stands for the value of a secret, which is never shown. */
export const kept = '••••••••'

/** What saving a text would do to one variable; `from` and `to` are null where it is secret. */
export type VariableChange = {
  key: string
  change: 'added' | 'changed' | 'removed'
  secret: boolean
  from: string | null
  to: string | null
  /** Of what is set. */
  holdsReference: boolean
}

/** An app gets its values byte for byte, where some tools put other values in place of these. */
export const holdsReference = (value: string | null) => /\$\{\w/.test(value ?? '')

/** The variables as text, a line each unless a value has several, that `readText` reads as the same. */
export const textOf = (variables: Variable[]) =>
  variables.map(({ key, value }) => `${key}=${value === null ? kept : quoted(value)}\n`).join('')

function quoted(value: string) {
  const isPlain = !/^[\s"'`]|\s#|[\r\n]|\s$/.test(value)
  if (isPlain) return value
  if (!/['\r]/.test(value)) return `'${value}'`
  return `"${value.replace(/["\\]/g, '\\$&').replaceAll('\r', '\\r')}"`
}

/**
 * The values that a text sets, by key; those of secrets that it leaves as they are aren't among them, but
 * in `unchanged`. Throws where a line can't be read, or keeps a value that isn't there.
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

/** What is different from what is stored, by key. */
export function changesOf(
  { pairs, unchanged }: ReturnType<typeof readText>,
  { stored, isSecret }: { stored: OpenVariable[]; isSecret: (key: string) => boolean },
): VariableChange[] {
  const before = new Map(stored.map((variable) => [variable.key, variable]))
  const set = [...pairs].flatMap(([key, to]): VariableChange[] => {
    const known = before.get(key)
    if (known?.value === to) return []
    const secret = known?.secret ?? isSecret(key)
    const change = known ? 'changed' : 'added'
    const [from, shown] = secret ? [null, null] : [known?.value ?? null, to]
    return [{ key, change, secret, from, to: shown, holdsReference: holdsReference(to) }]
  })
  const removed = stored
    .filter(({ key }) => !pairs.has(key) && !unchanged.has(key))
    .map(({ key, secret, value }): VariableChange => {
      const from = secret ? null : value
      return { key, change: 'removed', secret, from, to: null, holdsReference: false }
    })
  return [...set, ...removed].sort((a, b) => (a.key < b.key ? -1 : 1))
}
