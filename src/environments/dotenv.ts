import { invalidField } from '../platform/errors.ts'
import { dotenvPair } from './forms.ts'

/**
 * Parses a .env file: `KEY=value` with an optional `export`, comments, single quotes (taken as they
 * are) and double quotes (`\n`, `\t`, `\"`, `\\` are read), both of which may span lines. Throws
 * `invalid` naming the first invalid line, so that all lines are set or none.
 */
export function parseDotenv(
  text: string,
  { field = 'dotenv', mayBeEmpty = false } = {},
): Map<string, string> {
  const rows = text
    .replaceAll(/\r(?:\n|$)/g, '\n')
    .replace(/^\uFEFF/, '')
    .split('\n')
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
    const begun = row
    const assignment = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*([^\r]*)$/.exec(content)
    if (!assignment) throw refused(begun, 'isn’t KEY=value.')
    const [, key, rest] = assignment as unknown as [string, string, string]
    const quote = /^["'`]/.exec(rest)?.[0]
    row++
    const value = quote ? readQuoted(quote, rest.slice(1)) : rest.replace(/\s#.*$/s, '').trimEnd()
    const { error } = isShort(key, value) ? {} : dotenvPair.safeParse({ key, value })
    if (error) throw refused(begun, `has a ${String(error.issues[0]!.path[0])} that is too long.`)
    found.set(key, value)
  }

  function refused(at: number, complaint: string) {
    return invalidField(field, `Line ${at + 1} ${complaint} Nothing was saved.`)
  }

  /** Each line is searched separately, so that an open quote over many lines isn't quadratic. */
  function readQuoted(quote: string, first: string) {
    const begun = row - 1
    const body = [first]
    let end = closing(first, quote)
    while (end < 0) {
      if (row === rows.length) throw refused(begun, `opens a ${quote} that is never closed.`)
      body.push(rows[row]!)
      end = closing(rows[row++]!, quote)
    }
    const last = body.pop()!
    if (!/^\s*(#.*)?$/s.test(last.slice(end + 1)))
      throw refused(row - 1, 'continues after its closing quote.')
    const value = [...body, last.slice(0, end)].join('\n')
    return quote === '"' ? unescape(value) : value
  }
}

/** Most pairs skip the expensive check: a file can have 100,000 lines. */
const isShort = (key: string, value: string) =>
  key.length < 100 && value.length < 10_000 && !value.includes('\0')

/** Where the quote closes in a line, or -1; in double quotes a backslash hides the next character. */
function closing(text: string, quote: string) {
  for (let at = 0; at < text.length; at++) {
    if (quote === '"' && text[at] === '\\') at++
    else if (text[at] === quote) return at
  }
  return -1
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r' }
const unescape = (body: string) =>
  body.replace(/\\([\s\S])/g, (whole, letter: string) =>
    letter in escapes ? escapes[letter]! : /["\\$]/.test(letter) ? letter : whole,
  )
