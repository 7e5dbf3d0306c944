import { AppError, invalidField } from '../platform/errors.ts'
import { dotenvPair } from './forms.ts'

/** The rules of Compose for a `.env` beside its file. Without them values are kept byte for byte. */
type ComposeRules = {
  /** Named by errors. */
  file: string
  /** Replaces the references in a value. Throws `invalid` with a message that starts with “This”. */
  expand: (value: string, at: { key: string; before: ReadonlyMap<string, string> }) => string
  /** Returns the value for a name without `=`; undefined omits the name. */
  lookup: (name: string) => string | undefined
}

/** The rule that a line of the form KEY=value can still violate. */
export const keyRule = 'A KEY has letters, digits, _, . and - only, and starts with a letter or _.'

type Options = { field?: string; mayBeEmpty?: boolean; compose?: ComposeRules }

/**
 * Parses a .env file: `KEY=value` with an optional `export`, comments, single quotes (literal) and double
 * quotes (with `\n`, `\t`, `\"` and `\\`), both of which may span lines. Throws `invalid` for the first
 * invalid line, so that all lines are applied or none. `compose` adds Compose's rules: `KEY: value`, names
 * alone, references, more escapes, and no backticks.
 */
export function parseDotenv(
  text: string,
  { field = 'dotenv', mayBeEmpty = false, compose }: Options = {},
): Map<string, string> {
  const rows = text
    .replaceAll(/\r(?:\n|$)/g, '\n')
    .replace(/^\uFEFF/, '')
    .split('\n')
  const form = compose
    ? /^(?:export\s+)?([A-Za-z_][\w.-]*)\s*(?:[=:]([^\r]*))?$/
    : /^(?:export\s+)?([A-Za-z_][\w.-]*)\s*=([^\r]*)$/
  const found = new Map<string, string>()
  let row = 0
  while (row < rows.length) {
    const content = rows[row]!.trimStart() // the end isn't trimmed, as it may be within quotes
    if (content === '' || content.startsWith('#')) row++
    else readAssignment(content)
  }
  if (found.size === 0 && !mayBeEmpty)
    throw invalidField(field, 'There is no line of the form KEY=value.')
  return found

  function readAssignment(content: string) {
    const begun = row++
    const [, key, rest] = form.exec(content) ?? []
    if (key === undefined) throw refused(begun, `isn’t KEY=value. ${keyRule}`)
    const value = rest === undefined ? compose!.lookup(key) : readValue(begun, key, rest)
    if (value === undefined) return
    const { error } = isShort(key, value) ? {} : dotenvPair.safeParse({ key, value })
    if (error) throw refused(begun, `has a ${String(error.issues[0]!.path[0])} that is too long.`)
    found.set(key, value)
  }

  function readValue(begun: number, key: string, rest: string) {
    const given = rest.trimStart()
    const quote = (compose ? /^["']/ : /^["'`]/).exec(given)?.[0]
    // The rest may be a comment without a value.
    const comment = compose ? / #.*$/s : /\s#.*$/s
    const value = quote ? readQuoted(quote, given.slice(1)) : rest.replace(comment, '').trim()
    if (!compose || quote === "'") return value
    try {
      return compose.expand(value, { key, before: found })
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      throw refused(begun, error.message.replace(/^This /, ''))
    }
  }

  function refused(at: number, complaint: string) {
    const where = compose ? `${at + 1} of ${compose.file}` : at + 1
    return invalidField(field, `Line ${where} ${complaint} Nothing was saved.`)
  }

  /** Searches each line separately, so that an open quote over many lines isn't quadratic. */
  function readQuoted(quote: string, first: string) {
    const begun = row - 1
    const escapes = quote === '"' || compose !== undefined
    const body = [first]
    let end = closing(first, quote, escapes)
    while (end < 0) {
      if (row === rows.length) throw refused(begun, `opens a ${quote} that is never closed.`)
      body.push(rows[row]!)
      end = closing(rows[row++]!, quote, escapes)
    }
    const last = body.pop()!
    if (!/^\s*(#.*)?$/s.test(last.slice(end + 1)))
      throw refused(row - 1, 'continues after its closing quote.')
    const value = [...body, last.slice(0, end)].join('\n')
    if (quote === '"') return compose ? unescapeForCompose(value) : unescape(value)
    return compose
      ? value.replace(/\\([\s\S])/g, (pair, sign) => (sign === "'" ? sign : pair))
      : value
  }
}

/** Most pairs skip the expensive check: a file can have 100,000 lines. */
const isShort = (key: string, value: string) =>
  key.length < 100 && value.length < 10_000 && !value.includes('\0')

/** The position of the closing quote, or -1. With `escapes`, a backslash hides the next character. */
function closing(text: string, quote: string, escapes: boolean) {
  for (let at = 0; at < text.length; at++) {
    if (escapes && text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return -1
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
const unescape = (body: string) =>
  body.replace(/\\([\s\S])/g, (whole, letter: string) =>
    letter in escapes ? escapes[letter]! : /["\\$]/.test(letter) ? letter : whole,
  )

/** The escapes of a shell's echo. An escaped dollar stays one when references are expanded. */
const composeEscapes: Record<string, string> = {
  ...escapes,
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '"': '"',
  '\\': '\\',
  $: '$$',
}
const unescapeForCompose = (body: string) =>
  body.replace(/\\(0[0-3][0-7]{2}|[\s\S])/g, (whole, sign: string) =>
    sign.length > 1
      ? String.fromCharCode(Number.parseInt(sign, 8))
      : (composeEscapes[sign] ?? whole),
  )
