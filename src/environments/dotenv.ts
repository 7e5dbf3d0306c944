import { AppError, invalidField } from '../platform/errors.ts'
import { dotenvPair } from './forms.ts'

/** What Compose reads in a `.env` beside its file, where that of an app is taken byte for byte. */
export type ComposeRules = {
  /** Puts values in place of a value's references; throws `invalid` of `This …`. */
  expand: (value: string, at: { key: string; before: ReadonlyMap<string, string> }) => string
  /** Of a name that stands alone; undefined leaves it out. */
  lookup: (name: string) => string | undefined
}

type Options = { field?: string; mayBeEmpty?: boolean; compose?: ComposeRules }

/**
 * Parses a .env file: `KEY=value` with an optional `export`, comments, single quotes (taken as they
 * are) and double quotes (`\n`, `\t`, `\"`, `\\` are read), both of which may span lines. Throws
 * `invalid` naming the first invalid line, so that all lines are set or none. With `compose`, by its
 * rules: `KEY: value`, names alone, references, more escapes, and no backticks.
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
    const content = rows[row]!.trimStart() // its end can be inside of quotes
    if (content === '' || content.startsWith('#')) row++
    else readAssignment(content)
  }
  if (found.size === 0 && !mayBeEmpty)
    throw invalidField(field, 'There is no line of the form KEY=value.')
  return found

  function readAssignment(content: string) {
    const begun = row++
    const [, key, rest] = form.exec(content) ?? []
    if (key === undefined) throw refused(begun, 'isn’t KEY=value.')
    const value = rest === undefined ? compose!.lookup(key) : readValue(begun, key, rest)
    if (value === undefined) return
    const { error } = isShort(key, value) ? {} : dotenvPair.safeParse({ key, value })
    if (error) throw refused(begun, `has a ${String(error.issues[0]!.path[0])} that is too long.`)
    found.set(key, value)
  }

  function readValue(begun: number, key: string, rest: string) {
    const given = rest.trimStart()
    const quote = (compose ? /^["']/ : /^["'`]/).exec(given)?.[0]
    // a comment may be all that stands behind the sign
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
    return invalidField(field, `Line ${at + 1} ${complaint} Nothing was saved.`)
  }

  /** Each line is searched separately, so that an open quote over many lines isn't quadratic. */
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

/** Where the quote closes in a line, or -1; with `escapes` a backslash hides the next character. */
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

/** As a shell's echo has them; a dollar that is escaped stays one when references are read. */
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
